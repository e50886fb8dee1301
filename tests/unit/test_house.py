"""The rules of the house that no linter knows: locks, what the agent loads, what a file may say."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PINNED = re.compile(r"^([a-z0-9][a-z0-9._-]*)==([^ ;\\]+)", re.MULTILINE)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOO_HEAVY_FOR_A_NODE = {"aws_cdk", "aws_lambda_powertools", "cel", "lightkube", "moto", "rich", "typer", "yaml"}
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|NotImplementedError|stubs?|stubbed)\b")
SOMEBODYS_PATH = re.compile(r"/(?:home|Users)/[a-z]\w*/|/(?:root)/")


def tracked_texts() -> Iterator[tuple[Path, str]]:
    # `safe.directory`: the tree may belong to another user than the one who tests it.
    listed = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        try:
            yield Path(name), (ROOT / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue  # no text, or deleted and not yet committed


def pins(name: str) -> dict[str, str]:
    return dict(PINNED.findall((ROOT / "requirements" / f"{name}.txt").read_text()))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", line, maxsplit=1)[0].lower() for line in requirements}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_a_lock_holds_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert PINNED.findall(text)
    assert text.count("--hash=sha256:") >= len(PINNED.findall(text))
    assert not re.search(r"https?://|file:|--(extra-)?index-url|--find-links| @ ", text)


def test_the_five_locks_are_the_only_ones() -> None:
    assert [lock.stem for lock in LOCKS] == ["agent", "bootstrap", "dev", "frameworks", "layer"]
    assert not list(ROOT.glob("uv.lock"))


@pytest.mark.parametrize("lock", ["agent", "bootstrap", "layer"])
def test_what_is_shipped_has_the_versions_that_are_tested(lock: str) -> None:
    assert pins(lock).items() <= pins("dev").items()


def test_the_layer_carries_what_functions_need_and_not_what_the_runtime_has() -> None:
    asked = (ROOT / "requirements" / "layer.in").read_text()
    wanted = {line for line in asked.splitlines() if line and not line.startswith("#")}
    assert wanted == names(PROJECT["project"]["optional-dependencies"]["functions"]) | {"pydantic"}
    assert pins("layer").keys().isdisjoint({"boto3", "botocore", "s3transfer"})


def test_the_agents_environment_is_small() -> None:
    heavy = {"aws-cdk-lib", "aws-lambda-powertools", "common-expression-language", "lightkube", "moto", "rich"}
    assert pins("agent").keys().isdisjoint(heavy)


def test_the_agent_never_loads_what_is_too_heavy_for_a_node() -> None:
    script = """if True:
        import importlib, pkgutil, sys
        for room in ("agent", "policies.contract"):
            package = importlib.import_module(room)
            for module in pkgutil.walk_packages(package.__path__, room + "."):
                if not module.name.endswith("__main__"):
                    importlib.import_module(module.name)
        print(*sys.modules)
    """
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert {"agent", "policies.contract"} <= loaded
    assert not {name.partition(".")[0] for name in loaded} & TOO_HEAVY_FOR_A_NODE
    assert not [name for name in loaded if re.match(r"policies\.(?!contract\b)", name)]


def test_policies_never_read_a_clock() -> None:
    reads = re.compile(r"\.(?:now|utcnow|today)\(")
    modules = sorted((ROOT / "policies").rglob("*.py"))
    assert modules
    assert [str(module.relative_to(ROOT)) for module in modules if reads.search(module.read_text())] == []


def test_no_file_names_a_path_of_one_machine() -> None:
    here = f"{ROOT}/" if len(ROOT.parts) > 2 else "\0"
    assert [str(path) for path, text in tracked_texts() if here in text or SOMEBODYS_PATH.search(text)] == []


def test_nothing_outside_the_tests_is_called_unfinished() -> None:
    code = {".py", ".json", ".yaml", ".yml", ".toml", ".md"}
    checked = [(path, text) for path, text in tracked_texts() if path.parts[0] != "tests" and path.suffix in code]
    assert checked
    found = [f"{path}: {match[0]}" for path, text in checked for match in UNFINISHED.finditer(text)]
    assert found == []


def test_no_module_is_longer_than_300_lines() -> None:
    code = [(path, text) for path, text in tracked_texts() if path.suffix == ".py"]
    assert code
    assert [f"{path}: {text.count(chr(10))}" for path, text in code if text.count("\n") > 300] == []
