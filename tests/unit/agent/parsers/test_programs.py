import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.parsers.programs import PROGRAMS, parse_program

CONTAINER = "3f0c5a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7"


@pytest.mark.parametrize(
    ("program", "line", "kind", "attributes"),
    [
        (
            "containerd",
            f'time="2026-01-31T12:00:00.1Z" level=info msg="TaskOOM event container_id:\\"{CONTAINER}\\""',
            "container.oom_kill",
            {"container": CONTAINER},
        ),
        (
            "containerd",
            f'time="2022-01-31T12:00:00Z" level=info msg="TaskOOM event &TaskOOM{{ContainerID:{CONTAINER},XXX_u:[],}}"',
            "container.oom_kill",
            {"container": CONTAINER},
        ),
        (
            "containerd",
            (
                f'level=info msg="TaskExit event in podsandbox handler container_id:\\"{CONTAINER}\\" id:\\"x\\" '
                'pid:3072 exit_status:137 exited_at:{seconds:1769846400 nanos:1}"'
            ),
            "container.exited",
            {"container": CONTAINER, "pid": 3072, "exit_code": 137},
        ),
        (
            "kubelet",
            (
                'E0131 12:00:00.000001    1234 kubelet.go:2424] "Skipping pod synchronization" err="[container runtime '
                'is down, PLEG is not healthy: pleg was last seen active 3m5s ago; threshold is 3m0s]"'
            ),
            "container.runtime_down",
            {},
        ),
        (
            "kubelet",
            'I0131 12:00:00.000001    1234 setters.go:602] "Node became not ready" node="ip-10-0-0-1" condition={}',
            "node.not_ready",
            {},
        ),
        (
            "kubelet",
            'I0131 12:00:00.000001 1 kubelet_node_status.go:73] "Recording event message for node" event="NodeReady"',
            "node.recovered",
            {},
        ),
        (
            "kubelet",
            (
                'I0131 12:00:00.000001 1 eviction_manager.go:613] "Eviction manager: pod is evicted successfully" '
                'pod="ns/llama-worker-3"'
            ),
            "pod.evicted",
            {"pod": "ns/llama-worker-3"},
        ),
        (
            "kubelet",
            (
                'W0131 12:00:00.000001 1 eviction_manager.go:366] "Eviction manager: attempting to reclaim" '
                'resourceName="ephemeral-storage"'
            ),
            "host.resource_exhausted",
            {"resource": "ephemeral-storage"},
        ),
        ("systemd-networkd", "ens32np0: Lost carrier", "network.link_down", {"device": "ens32np0"}),
        ("systemd-networkd", "eth0: Gained carrier", "network.link_up", {"device": "eth0"}),
        (
            "slurmstepd",
            "error: Detected 1 oom_kill event in StepId=5.batch. Some of the step tasks have been OOM Killed.",
            "container.oom_kill",
            {"step_id": "5.batch"},
        ),
        (
            "slurmd",
            "error: *** JOB 3 ON gpu1 CANCELLED AT 2026-11-29T11:25:29 DUE TO NODE FAILURE, SEE SLURMCTLD LOG ***",
            "job.failed",
            {"step_id": "3"},
        ),
        (
            "slurmstepd",
            "error: *** STEP 12.0 STEPD TERMINATED ON gpu1 AT 2026-01-31T12:00:00 DUE TO JOB NOT ENDING ***",
            "process.hung",
            {"step_id": "12.0"},
        ),
        ("slurmd", "error: health_check failed: rc:1 output:gpu count", "node.not_ready", {"exit_code": 1}),
        ("slurmd", "error: [job 12] prolog failed status=1:0", "node.not_ready", {"exit_code": 1}),
        ("nvidia-imex", "[Aug 04 2025 08:09:05] [ERROR] [tid 12] Connection lost to node 3", "imex.error", {}),
        (
            "nvidia-fabricmanager",
            (
                "[Sep 08 2025 23:21:50] [ERROR] detected number of NVSwitches don't match with any supported system "
                "topology, aborting fabric manager"
            ),
            "fabric_manager.error",
            {},
        ),
        (
            "systemd",
            "containerd.service: Main process exited, code=killed, status=9/KILL",
            "container.runtime_down",
            {"unit": "containerd"},
        ),
        ("systemd", "slurmd.service: Failed with result 'exit-code'.", "node.not_ready", {"unit": "slurmd"}),
    ],
)
def test_what_services_say(program: str, line: str, kind: str, attributes: dict[str, object]) -> None:
    (sighting,) = parse_program(program, line)
    assert (sighting.kind, dict(sighting.attributes)) == (kind, attributes)


@pytest.mark.parametrize(
    ("program", "line"),
    [
        ("systemd-networkd", "calia3f11b97c70: Lost carrier"),
        ("systemd-networkd", "veth1a2b: Gained carrier"),
        ("containerd", 'level=info msg="TaskExit event container_id:\\"3f0c5a1b2c3d\\" pid:3 exit_status:0"'),
        ("containerd", 'level=error msg="collecting metrics" error="cgroups: cgroup deleted"'),
        ("kubelet", 'I0131 1 kubelet.go:1] "SyncLoop ADD" pods=["Node became ready"]'),
        ("sshd", "containerd.service: Failed with result 'exit-code'."),
        ("systemd", "nginx.service: Failed with result 'exit-code'."),
        ("systemd", "kubelet.service: Deactivated successfully."),
        ("slurmd", "error: Unable to register: Unable to contact slurm controller (connect failure)"),
    ],
)
def test_what_is_no_fault(program: str, line: str) -> None:
    assert parse_program(program, line) == []


@given(st.sampled_from([*PROGRAMS, "nv-fabricmanager", "", "x"]), st.text())
def test_nothing_raises(program: str, text: str) -> None:
    parse_program(program, text)
