"""What is shipped to nodes: the unit, the scripts, the image's recipe, the manifest.

None of it runs here as on a node; what can be held against the code and the tools at hand is.
"""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent.settings import PREFIX, Settings
from functions.ports.kubernetes import ISOLATED_TAINT, UNVERIFIED_TAINT

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "agent" / "packaging"
SCRIPTS = sorted(FOLDER.glob("*.sh"))
UNIT = (FOLDER / "relight-agent.service").read_text(encoding="utf-8")
# systemd.unit(5), systemd.service(5), systemd.exec(5), systemd.resource-control(5), systemd.kill(5), up to version 252
KNOWN = {
    *("Description", "After", "Wants", "StartLimitIntervalSec", "WantedBy"),
    *("Type", "ExecStart", "ExecStartPre", "ExecReload", "WatchdogSec", "TimeoutStartSec", "TimeoutStopSec"),
    *("Restart", "RestartSec", "KillMode", "User", "CapabilityBoundingSet", "NoNewPrivileges", "StateDirectory"),
    *("RuntimeDirectory", "RuntimeDirectoryMode", "RuntimeDirectoryPreserve", "ProtectSystem", "ProtectHome"),
    *("ProtectKernelTunables", "ProtectKernelModules", "ProtectControlGroups", "ProtectHostname", "UMask"),
    *("RestrictAddressFamilies", "RestrictNamespaces", "RestrictRealtime", "RestrictSUIDSGID", "LockPersonality"),
    *("SystemCallArchitectures", "SystemCallFilter", "SystemCallErrorNumber", "MemoryMax", "TasksMax", "CPUQuota"),
    *("Nice", "OOMScoreAdjust"),
}
BLINDING = {"PrivateDevices", "ProtectClock", "DeviceAllow", "DevicePolicy", "ProtectKernelLogs", "ProtectProc"}
BLINDING |= {"ProcSubset", "PrivateTmp", "MemoryDenyWriteExecute", "PrivateNetwork", "PrivateUsers"}


def options() -> dict[str, str]:
    lines = (line for line in UNIT.splitlines() if "=" in line and not line.startswith("#"))
    return dict(line.split("=", 1) for line in lines)


def manifest() -> dict[str, Any]:
    documents = yaml.safe_load_all((FOLDER / "daemonset.yaml").read_text(encoding="utf-8"))
    return {document["kind"]: document for document in documents}


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = manifest()["DaemonSet"]["spec"]["template"]["spec"]
    return spec


def agent_container() -> dict[str, Any]:
    (container,) = pod()["containers"]
    found: dict[str, Any] = container
    return found


def capabilities_of_pod() -> set[str]:
    (words,) = [word for word in agent_container()["command"] if word.startswith("--bounding-set=")]
    first, *kept = words.removeprefix("--bounding-set=").split(",")
    assert first == "-all"
    return {"CAP_" + word.removeprefix("+").upper() for word in kept}


def test_the_units_options_are_systemds_and_none_blinds_a_source() -> None:
    assert options().keys() <= KNOWN
    assert not options().keys() & BLINDING


def test_systemd_itself_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze here")
    unit = tmp_path / "relight-agent.service"
    unit.write_text(UNIT.replace("/opt/relight/bin/relight", "/bin/true"), encoding="utf-8")
    run = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout + run.stderr) == (0, "")


def test_beats_outlive_a_restart_of_the_agent() -> None:
    assert options()["RuntimeDirectoryPreserve"] == "yes"
    assert str(Settings.model_fields["beats"].default) in options()["ExecStartPre"]
    assert "DynamicUser" not in options()  # its /run/private keeps trainers out


def test_the_watchdog_is_asked_for_where_the_agent_answers_it() -> None:
    assert (options()["Type"], options()["Restart"]) == ("notify", "always")
    assert int(options()["WatchdogSec"]) > 0


def test_unit_and_pod_keep_the_same_capabilities() -> None:
    assert capabilities_of_pod() == set(options()["CapabilityBoundingSet"].split())


def test_the_programs_that_the_pod_begins_with_keep_only_those() -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv here")
    command = agent_container()["command"]
    at = command.index("/opt/relight/bin/relight")
    run = subprocess.run(
        ["setpriv", *command[1:at], "cat", "/proc/self/status"], capture_output=True, text=True, timeout=60, check=False
    )
    if run.returncode:
        pytest.skip(f"capabilities cannot be dropped here: {run.stderr.strip()}")
    left = int(re.findall(r"^CapBnd:\s*(\w+)$", run.stdout, re.MULTILINE)[0], 16)
    numbers = {
        "CAP_DAC_OVERRIDE": 1,
        "CAP_DAC_READ_SEARCH": 2,
        "CAP_NET_ADMIN": 12,
        "CAP_SYS_PTRACE": 19,
        "CAP_SYSLOG": 34,
    }
    assert left == sum(1 << numbers[name] for name in capabilities_of_pod())
    assert "NoNewPrivs:\t1" in run.stdout


@pytest.mark.parametrize("key", [ISOLATED_TAINT, UNVERIFIED_TAINT, "nvidia.com/gpu", "node.kubernetes.io/unreachable"])
@pytest.mark.parametrize("effect", ["NoSchedule", "NoExecute"])
def test_the_agent_stays_on_a_node_whatever_its_taint(key: str, effect: str) -> None:
    tolerated = [
        one
        for one in pod()["tolerations"]
        if one["operator"] == "Exists" and one.get("key", key) == key and one.get("effect", effect) == effect
    ]
    assert tolerated
    assert not any("tolerationSeconds" in one for one in tolerated)


def test_our_own_taints_are_named() -> None:
    assert {ISOLATED_TAINT, UNVERIFIED_TAINT} <= {one.get("key") for one in pod()["tolerations"]}


def test_the_settings_in_the_manifest_are_settings() -> None:
    given = tomllib.loads(manifest()["ConfigMap"]["data"]["agent.toml"])
    settings = Settings.model_validate(given)
    mounted = {mount["mountPath"] for mount in agent_container()["volumeMounts"]}
    assert {str(settings.procfs), str(settings.sysfs)} <= mounted
    names = {one["name"] for one in agent_container()["env"] if one["name"].startswith(PREFIX)}
    assert names <= {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    port = int(settings.metrics_listen.rpartition(":")[2])
    assert {agent_container()[probe]["httpGet"]["port"] for probe in ("livenessProbe", "startupProbe")} == {port}
    assert any(str(settings.spool_dir).startswith(path) for path in mounted)
    assert any(str(settings.beats).startswith(path) for path in mounted)


def test_the_pod_writes_to_the_node_only_where_spool_and_beats_lie() -> None:
    volumes = {volume["name"]: volume for volume in pod()["volumes"]}
    for container in (*pod()["initContainers"], *pod()["containers"]):
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        writable = [mount["name"] for mount in container["volumeMounts"] if not mount.get("readOnly")]
        paths = {volumes[name]["hostPath"]["path"] for name in writable if "hostPath" in volumes[name]}
        assert paths <= {"/var/lib/relight", "/run/relight"}
    assert {mount["name"] for mount in agent_container()["volumeMounts"]} == volumes.keys()


def test_the_pod_has_no_token_and_the_nodes_network_and_processes() -> None:
    assert pod()["automountServiceAccountToken"] is False
    assert manifest()["ServiceAccount"]["automountServiceAccountToken"] is False
    assert (pod()["hostNetwork"], pod()["hostPID"]) == (True, True)
    assert pod()["priorityClassName"] == "system-node-critical"
    assert manifest()["DaemonSet"]["spec"]["updateStrategy"]["type"] == "RollingUpdate"
    assert agent_container()["resources"].keys() == {"requests", "limits"}


def test_the_image_holds_the_agents_lock_and_its_wheel_and_nothing_else() -> None:
    text = (FOLDER / "Containerfile").read_text(encoding="utf-8")
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"docker.io/library/python:3.13-slim"}
    copied = re.findall(r"^COPY (?!--from)(\S+)", text, re.MULTILINE)
    assert copied == ["requirements/agent.txt", "build/wheel/relight-*.whl"]
    assert (ROOT / copied[0]).exists()
    assert "--require-hashes" in text
    assert '["/opt/relight/bin/relight", "agent", "run"]' in text
    assert not re.search(r"^ADD|apt-get|curl|wget", text, re.MULTILINE)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_a_script_is_one_that_bash_understands(script: Path) -> None:
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)], check=False, timeout=60).returncode == 0
    if shutil.which("shellcheck"):
        assert subprocess.run(["shellcheck", str(script)], check=False, timeout=60).returncode == 0


def lifecycle(tmp_path: Path, install: str | None) -> "subprocess.CompletedProcess[str]":
    folder = tmp_path / "relight"
    if install is not None:
        folder.mkdir()
        (folder / "install.sh").write_text(install, encoding="utf-8")
    environment = {"PATH": "/usr/bin:/bin", "RELIGHT_FOLDER": str(folder), "RELIGHT_INSTALL_LOG": str(tmp_path / "log")}
    script = str(FOLDER / "hyperpod-lifecycle.sh")
    return subprocess.run(["bash", script], capture_output=True, text=True, timeout=60, env=environment, check=False)


def test_a_lifecycle_script_that_works_says_so(tmp_path: Path) -> None:
    run = lifecycle(tmp_path, 'echo "installed from $1"\n')
    assert (run.returncode, run.stdout) == (0, "relight: the agent runs\n")
    assert (tmp_path / "log").read_text() == f"installed from {tmp_path / 'relight'}\n"


@pytest.mark.parametrize("install", ["echo broken; exit 3\n", None])
def test_a_lifecycle_script_never_costs_an_instance(tmp_path: Path, install: str | None) -> None:
    run = lifecycle(tmp_path, install)
    assert run.returncode == 0
    assert "not" in run.stderr


def test_user_data_fetches_the_bundle_and_installs_it(tmp_path: Path) -> None:
    """With an `aws` of our own that "downloads", and a log where this user may write."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "aws").write_text(
        '#!/bin/sh\necho "echo installed" > "$6/install.sh"\necho "$5" > ' + f"{tmp_path}/asked\n"
    )
    (tools / "aws").chmod(0o755)
    script = tmp_path / "user-data.sh"
    text = (FOLDER / "user-data.sh").read_text(encoding="utf-8")
    script.write_text(text.replace("/var/log/relight-install.log", str(tmp_path / "log")), encoding="utf-8")
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "RELIGHT_BUNDLE": "s3://bucket/relight"}
    run = subprocess.run(
        ["bash", str(script)], capture_output=True, text=True, timeout=60, env=environment, check=False
    )
    assert (run.returncode, run.stdout) == (0, "relight: the agent runs\n")
    assert (tmp_path / "log").read_text() == "installed\n"
    assert (tmp_path / "asked").read_text() == "s3://bucket/relight\n"


def test_an_installation_without_a_wheel_says_what_is_missing(tmp_path: Path) -> None:
    run = subprocess.run(
        ["bash", str(FOLDER / "install.sh"), str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 1
    assert "relight-*.whl" in run.stderr or "Python" in run.stderr


def test_every_file_of_packaging_that_a_page_names_is_there_and_every_one_is_named() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    named = set(re.findall(r"agent/packaging/([\w.-]+\w)", pages))
    assert named == {path.name for path in FOLDER.iterdir() if path.is_file()}
