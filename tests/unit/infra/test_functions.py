"""Template and code fit: each function's settings are built from the Environment the template gives it."""

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.rejects import KEPT
from functions.intake.read import PARSERS
from infra.settings import Deployment

Find = Callable[[str], dict[str, Any]]
ROOT = Path(__file__).parents[3]
FOLDERS = (
    "archive",
    "checkpoints",
    "coordinate",
    "evidence",
    "guard",
    "instances",
    "intake",
    "kubernetes",
    "nodes",
    "outbox",
    "report",
    "sagemaker",
    "sweep",
    "triage",
)
# What the python3.14 runtime brings: boto3 and what it stands on.
RUNTIME = {"boto3", "botocore", "s3transfer", "jmespath", "python-dateutil", "six", "urllib3"}


def folder_of(function: dict[str, Any]) -> str:
    return str(function["Handler"]).split(".")[1]


def environment(function: dict[str, Any]) -> dict[str, str]:
    """What the function would find: what CloudFormation fills in becomes a name."""
    variables = {**function["Environment"]["Variables"], "AWS_REGION": "us-east-1"}
    return {name: value if isinstance(value, str) else f"made-{name.lower()}" for name, value in variables.items()}


def normalised(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def test_there_is_one_function_a_folder(of_type: Find) -> None:
    functions = of_type("Lambda::Function").values()
    assert sorted(map(folder_of, functions)) == list(FOLDERS)
    assert {function["Handler"] for function in functions} == {f"functions.{it}.handler.handle" for it in FOLDERS}


@pytest.mark.parametrize("folder", FOLDERS)
def test_settings_are_built_from_the_template(of_type: Find, folder: str) -> None:
    [function] = [it for it in of_type("Lambda::Function").values() if folder_of(it) == folder]
    settings = importlib.import_module(f"functions.{folder}.settings").Settings
    variables = environment(function)
    assert settings.from_environment(variables)
    for name in function["Environment"]["Variables"]:
        if not name.startswith("POWERTOOLS_"):
            without = {key: value for key, value in variables.items() if key != name}
            with pytest.raises(Exception, match=name):
                settings.from_environment(without)


def test_the_index_of_rejects_is_kept_as_long_as_their_payloads(of_type: Find) -> None:
    [triage] = [it for it in of_type("Lambda::Function").values() if folder_of(it) == "triage"]
    [bucket] = [it for name, it in of_type("S3::Bucket").items() if name.startswith("BucketsRejects")]
    [rule] = bucket["LifecycleConfiguration"]["Rules"]
    settings = importlib.import_module("functions.triage.settings").Settings
    assert settings.from_environment(environment(triage)).rejects_kept.days == rule["ExpirationInDays"]
    assert Deployment.model_fields["rejects_retention_days"].default == KEPT.days


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_handler_is_where_the_template_says(folder: str) -> None:
    assert callable(importlib.import_module(f"functions.{folder}.handler").handle)


def test_handlers_load_only_what_layer_and_runtime_hold() -> None:
    names = [f"functions.{it}.handler" for it in FOLDERS]
    script = (
        f"import json, sys; before = set(sys.modules); import {', '.join(names)}; print(json.dumps([*sys.modules]))"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    distributions = packages_distributions()
    held = set(re.findall(r"^([a-z0-9][a-z0-9._-]*)==", (ROOT / "requirements/layer.txt").read_text(), re.MULTILINE))
    strangers = {
        (package, distribution)
        for package in loaded
        for distribution in map(normalised, distributions.get(package, []))
        if distribution not in held | RUNTIME | {"relight"}
    }
    # setuptools' hook is loaded by the interpreter; `cel` loads its command line, which the layer empties
    # (docs/decisions/0005); botocore takes certifi's certificates only where they are.
    assert {package for package, _ in strangers} <= {"_distutils_hack", "prompt_toolkit", "certifi"}


def test_functions_run_on_arm_with_logs_of_their_own_and_nothing_reserved(of_type: Find) -> None:
    functions = of_type("Lambda::Function").values()
    for function in functions:
        assert (function["Runtime"], function["Architectures"]) == ("python3.14", ["arm64"])
        assert "ReservedConcurrentExecutions" not in function
        assert function["Environment"]["Variables"]["POWERTOOLS_METRICS_NAMESPACE"] == "Relight"
        assert function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] == folder_of(function)
    groups = [function["LoggingConfig"]["LogGroup"]["Ref"] for function in functions]
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions]
    assert len(set(groups)) == len(set(roles)) == len(functions)
    assert {group["RetentionInDays"] for group in of_type("Logs::LogGroup").values()} == {90}


def test_every_aws_event_that_is_let_in_has_a_parser(of_type: Find) -> None:
    rules = [rule for name, rule in of_type("Events::Rule").items() if name.startswith("AwsEvents")]
    let_in = {kind for rule in rules for kind in rule["EventPattern"]["detail-type"]}
    assert len(rules) == 4
    assert let_in <= PARSERS.keys()


def test_the_code_is_exactly_two_folders(template_path: Path) -> None:
    assets = json.loads((template_path.parent / "Relight.assets.json").read_text())["files"].values()
    [packed] = [asset["source"]["path"] for asset in assets if asset["source"]["packaging"] == "zip"]
    root = template_path.parent / packed
    assert sorted(path.name for path in root.iterdir()) == ["functions", "policies"]
    assert [path for path in root.rglob("*") if path.name == "__pycache__" or path.suffix == ".pyc"] == []
    assert (root / "policies" / "contract" / "vocabulary.py").exists()
    assert any(path.suffix in {".csv", ".yaml"} for path in root.rglob("*"))


def test_the_state_machine_has_no_gap_left_open(of_type: Find) -> None:
    [machine] = of_type("StepFunctions::StateMachine").values()
    gaps = set(re.findall(r"\$\{(\w+)\}", machine["DefinitionString"]))
    assert gaps == machine["DefinitionSubstitutions"].keys()
    assert "DecisionsQueueUrl" in gaps
