"""Synthesis for programs: once for the same inputs, anew for others, and no Docker, home or network."""

import importlib.util
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from infra import context
from infra.settings import DEFAULT, DeploymentError
from infra.synth import _move_in, fingerprint, own_copy, synthesise

ROOT = Path(__file__).parents[3]
PRIVATE = """
name = "Private"
[[clusters]]
name = "open"
orchestrator = "eks"
eks_cluster = "open"
access_entry = true
[[clusters]]
name = "closed"
orchestrator = "eks"
eks_cluster = "closed"
endpoint_access = "private"
network = { subnets = ["subnet-1"], security_groups = ["sg-1"] }
[[clusters]]
name = "jobs"
orchestrator = "sagemaker"
sagemaker_role_arn = "arn:aws:iam::123456789012:role/train"
"""


def test_the_same_inputs_make_the_template_once(template_path: Path) -> None:
    made = template_path.stat().st_mtime_ns
    assert synthesise(template_path.parent) == template_path
    assert template_path.stat().st_mtime_ns == made


def test_a_copy_holds_what_its_template_names_and_no_more_and_its_code_is_compiled(tmp_path: Path) -> None:
    outdir = tmp_path / "out"
    for name, text in (("asset.code/functions/one.py", "ONE = 1"), ("asset.left/old.py", ""), (".inputs", "")):
        (outdir / name).parent.mkdir(parents=True, exist_ok=True)
        (outdir / name).write_text(text)
    (outdir / ".inputs").write_text(fingerprint(DEFAULT, layer=False))
    files = [{"path": "asset.code", "packaging": "zip"}, {"path": "Relight.template.json", "packaging": "file"}]
    manifest = {"files": {str(number): {"source": source} for number, source in enumerate(files)}}
    (outdir / "Relight.assets.json").write_text(json.dumps(manifest))
    (outdir / "Relight.template.json").write_text("{}")
    for copy in (tmp_path / "first", tmp_path / "second"):
        assert own_copy(outdir, copy) == copy
        assert (copy / "Relight.template.json").read_text() == "{}"
        assert [path.name for path in copy.glob("asset.*")] == ["asset.code"]
        source = copy / "asset.code" / "functions" / "one.py"
        compiled = Path(importlib.util.cache_from_source(source)).read_bytes()
        written = source.stat()
        assert struct.unpack("<LL", compiled[8:16]) == (
            int(written.st_mtime),
            written.st_size,
        )  # PEP 552: of this source
    assert not list(outdir.rglob("*.pyc"))  # what is uploaded has none


def test_assets_that_somebody_may_run_from_stay_for_a_day(tmp_path: Path) -> None:
    outdir, fresh = tmp_path / "out", tmp_path / "out.new"
    for name in ("asset.young", "asset.old", "asset.same"):
        (outdir / name).mkdir(parents=True)
    os.utime(outdir / "asset.old", (0, 0))
    os.utime(outdir / "asset.same", (0, 0))
    (outdir / "Relight.template.json").write_text("old")
    (fresh / "asset.same").mkdir(parents=True)
    (fresh / "asset.new").mkdir()
    (fresh / "Relight.template.json").write_text("new")
    _move_in(fresh, outdir)
    assert sorted(path.name for path in outdir.glob("asset.*")) == ["asset.new", "asset.same", "asset.young"]
    assert (outdir / "Relight.template.json").read_text() == "new"
    assert not fresh.exists()


def test_other_settings_and_the_layer_are_other_inputs(tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(DEFAULT.read_text().replace("90", "30"))
    same = tmp_path / "same.toml"
    same.write_text(DEFAULT.read_text())
    plain = fingerprint(DEFAULT, layer=False)
    assert fingerprint(same, layer=False) == plain
    assert len({plain, fingerprint(other, layer=False), fingerprint(DEFAULT, layer=True)}) == 3


def test_a_private_endpoint_and_a_sagemaker_cluster_get_what_they_need(tmp_path: Path) -> None:
    settings = tmp_path / "private.toml"
    settings.write_text(PRIVATE)
    template = json.loads(synthesise(tmp_path / "out", settings=settings).read_text())
    functions = {
        name: it["Properties"] for name, it in template["Resources"].items() if it["Type"].endswith("::Function")
    }
    inside = next(it for name, it in functions.items() if name.startswith("KubernetesVpc1"))
    outside = next(it for name, it in functions.items() if name.startswith("KubernetesFunction"))
    assert inside["VpcConfig"] == {"SubnetIds": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}
    assert "VpcConfig" not in outside
    assert [it["name"] for it in json.loads(inside["Environment"]["Variables"]["CLUSTERS"])] == ["closed"]
    machine = next(it for it in template["Resources"].values() if it["Type"] == "AWS::StepFunctions::StateMachine")
    assert "KubernetesVpc1FunctionArn" in machine["Properties"]["DefinitionSubstitutions"]
    [entry] = [it["Properties"] for it in template["Resources"].values() if it["Type"] == "AWS::EKS::AccessEntry"]
    assert (entry["ClusterName"], entry["KubernetesGroups"]) == ("open", ["relight"])
    assert "AccessPolicies" not in entry
    text = json.dumps(template)
    assert "aws:RequestTag/relight:cluster" in text
    assert "arn:aws:iam::123456789012:role/train" in text


def test_the_app_says_what_to_do_instead_of_a_traceback(tmp_path: Path) -> None:
    environ = {**os.environ, "CDK_OUTDIR": str(tmp_path / "out")}
    command = [sys.executable, "-m", "infra.app", "-c", f"settings={tmp_path / 'none.toml'}"]
    run = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.count("\n") == 1
    assert "-c settings=" in run.stderr


def test_context_comes_from_cdk_json_then_the_cdk_command_then_the_command_line() -> None:
    passed = {"CDK_CONTEXT_JSON": json.dumps({"layer": "x", "settings": "a.toml"})}
    found = context.gather(["-c", "layer=none"], passed)
    assert (found["layer"], context.settings_path(found)) == ("none", Path("a.toml"))
    assert found["@aws-cdk/aws-iam:minimizePolicies"] is True


@pytest.mark.parametrize("argv", [["--layer", "none"], ["-c"], ["-c", "layer"]])
def test_an_unknown_flag_names_the_known_ones(argv: list[str]) -> None:
    with pytest.raises(DeploymentError, match="settings: a TOML"):
        context.gather(argv, {})
