"""Faults of hosts, storage, runs and instances, in the words of the agent and intake, and what ships for each."""

import json
from collections.abc import Callable
from typing import Any

from agent.parsers.programs import parse_program
from agent.parsers.sighting import Sighting
from agent.parsers.training import parse_training_line
from functions.intake.read import read
from policies.contract.events import Component
from policies.contract.vocabulary import Action, ComponentType, Kind, Severity
from tests.tools.shipped_faults import Fault
from tests.tools.shipped_stories import P5, Told, line, polled

NODE = Component(type=ComponentType.NODE)
MOUNT = Component(type=ComponentType.MOUNT)
RANK = Component(type=ComponentType.PROCESS, index=4711)
CONTAINER = Component(type=ComponentType.CONTAINER)
REPLACE, RESUME, TELL, NOTE = Action.REPLACE_NODE, Action.RESUME_JOB, Action.ALERT, Action.RECORD
PAGE = Action.PAGE_OPERATOR


def rank_log(text: str, after: float = 0.0, job: str | None = None) -> list[Told]:
    """Return what the agent makes of a line of a rank's log."""
    return _told(parse_training_line(text), text, after, job)


def service(program: str, text: str, after: float = 0.0) -> list[Told]:
    """Return what the agent makes of a line that *program* wrote to the journal."""
    return _told(parse_program(program, text), text, after)


def from_aws(
    detail_type: str, detail: dict[str, Any], after: float = 0.0, time: str = "2026-03-01T10:00:00Z"
) -> list[Told]:
    """Return what intake makes of an event of EventBridge; it names no component."""
    event = {"id": "e-1", "source": "aws", "detail-type": detail_type, "time": time, "resources": [], "detail": detail}
    notices = read(json.dumps(event)).notices
    assert notices, f"intake knows nothing of {detail_type}"
    return [Told(Sighting(one.kind, one.severity, None, dict(one.attributes)), after, one.message) for one in notices]


def _told(found: list[Sighting], text: str, after: float, job: str | None = None) -> list[Told]:
    assert found, f"no parser knows {text!r}"
    return [Told(one, after, text, job) for one in found]


def _fault(says: str, told: list[Told], by: str, act: Action, *companions: str) -> Fault:
    return Fault(says, told, frozenset({by, *companions}), by, act, P5)


def often(times: int, every: float, make: Callable[[float], list[Told]]) -> list[Told]:
    """Return what *make* tells, so many times."""
    return [one for turn in range(times) for one in make(turn * every)]


def health(code: str, starts: str = "Sun, 15 Mar 2026 15:10:09 GMT") -> dict[str, Any]:
    """Return what AWS Health says of a scheduled change."""
    return {
        "eventArn": f"arn:aws:health:us-east-1::event/EC2/{code}/1",
        "eventTypeCode": code,
        "eventTypeCategory": "scheduledChange",
        "startTime": starts,
        "affectedEntities": [{"entityValue": "i-0b662ef9931388ba0"}],
    }


def state(word: str, after: float = 0.0) -> list[Told]:
    """Return EC2's word on an instance."""
    detail = {"instance-id": "i-0b662ef9931388ba0", "state": word}
    return from_aws("EC2 Instance State-change Notification", detail, after)


HOSTS = (
    _fault(
        "memory gave an uncorrectable error: EDAC, the handler of bad pages and the rank that was killed",
        [
            *line("EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1)"),
            *line("Memory failure: 0x1a2b3c: Killing python:4711 due to hardware memory corruption", 0.4),
            *polled(Kind.PROCESS_EXITED, component=RANK, after=2, pid=4711, rank=3, signal="SIGBUS"),
        ],
        "host-memory-uncorrected",
        REPLACE,
        "rank-died",
    ),
    _fault(
        "a machine check that the firmware calls fatal",
        line("{1}[Hardware Error]: event severity: fatal"),
        "host-machine-check-fatal",
        REPLACE,
    ),
    _fault(
        "three machine checks in a day that were dealt with",
        often(3, 3600, lambda at: line("mce: [Hardware Error]: Machine check events logged", at)),
        "host-machine-checks",
        TELL,
    ),
    _fault(
        "a panic, after which nothing more is said",
        line("Kernel panic - not syncing: Fatal exception in interrupt"),
        "host-panic",
        REPLACE,
    ),
    _fault(
        "an oops that is survived",
        [
            *line("BUG: kernel NULL pointer dereference, address: 0000000000000008"),
            *line("Oops: 0002 [#1] PREEMPT SMP NOPTI", 0.1),
        ],
        "host-oops",
        TELL,
    ),
    _fault(
        "a processor that is stuck for minutes",
        often(4, 65, lambda at: line("watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [python:4711]", at)),
        "host-cpu-stuck",
        TELL,
    ),
    _fault(
        "a processor that takes no interrupts, twice",
        often(2, 600, lambda at: line("NMI watchdog: Watchdog detected hard LOCKUP on cpu 17", at)),
        "host-hard-lockup",
        REPLACE,
    ),
    _fault(
        "the node's memory is used up: no machine is touched, whoever dies of it",
        [
            *line("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),task=python,pid=4711,uid=0"),
            *line("Out of memory: Killed process 4711 (python) total-vm:1kB, anon-rss:1kB", 0.1),
            *polled(Kind.CONTAINER_OOM_KILL, Severity.INFO, component=CONTAINER, after=1, by="node", symptom=True),
        ],
        "host-out-of-memory",
        TELL,
    ),
    _fault(
        "memory leaks, an hour and then minutes before it is used up",
        [
            *polled(Kind.HOST_MEMORY_LEAK, Severity.WARNING, component=RANK, minutes_left=55),
            *polled(Kind.HOST_MEMORY_LEAK, Severity.ERROR, component=RANK, after=2500, minutes_left=13, ongoing=True),
        ],
        "host-memory-leak-soon",
        TELL,
        "host-memory-leak",
    ),
    _fault(
        "a disk does not come back from its reset",
        [
            *line("nvme nvme3: I/O 12 QID 3 timeout, aborting"),
            *line("nvme nvme3: Disabling device after reset failure: -19", 60),
        ],
        "storage-device-failed",
        REPLACE,
    ),
    _fault(
        "a file system turns read-only, with the words that led there",
        [
            *line("EXT4-fs error (device nvme1n1): ext4_lookup:1855: inode #131: comm python: iget: checksum invalid"),
            *line("EXT4-fs (nvme1n1): Remounting filesystem read-only", 0.2),
            *polled(Kind.STORAGE_READ_ONLY, Severity.CRITICAL, component=MOUNT, after=8, mount="/scratch"),
        ],
        "storage-read-only",
        REPLACE,
        "storage-filesystem-error",
    ),
    _fault(
        "a Lustre client was evicted: the run goes back before that, no machine is touched",
        line(
            "LustreError: 167-0: fsx-OST0001-osc: This client was evicted by fsx-OST0001; in progress operations fail"
        ),
        "lustre-client-evicted",
        RESUME,
    ),
)
RUNS = (
    _fault(
        "a rank raises, its launcher ends the others and says how all ended",
        [
            *rank_log("ValueError: operands could not be broadcast together"),
            *polled(Kind.PROCESS_EXITED, component=RANK, after=2, pid=4711, rank=3, exit_code=1),
            *rank_log("Sending process 4712 closing signal SIGTERM", 3),
            *polled(Kind.PROCESS_EXITED, Severity.WARNING, component=RANK, after=4, signal="SIGTERM", symptom=True),
            *rank_log("  exitcode  : 1 (pid: 4711)", 5),
        ],
        "rank-died",
        RESUME,
        *("training-user-error", "training-killed"),
    ),
    _fault(
        "the loss is no number",
        rank_log("step 9100 loss: nan"),
        "training-loss-anomaly",
        TELL,
    ),
    _fault(
        "a checkpoint cannot be read",
        rank_log("PytorchStreamReader failed reading zip archive: failed finding central directory"),
        "training-checkpoint-corrupt",
        TELL,
    ),
    _fault(
        "the GPU's memory is used up by the program",
        rank_log("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."),
        "training-out-of-memory",
        TELL,
    ),
    _fault(
        "logs of three jobs name errors of the GPU: suspicion, no replacement",
        often(3, 3600, lambda at: rank_log("CUDA error: an illegal memory access was encountered", at, f"train/{at}")),
        "training-gpu-errors-under-many-jobs",
        TELL,
        "training-gpu-error",
    ),
    _fault(
        "a container hit its own limit: its run is restarted, and what the kernel says beside it is a companion",
        [
            *line("Memory cgroup out of memory: Killed process 4711 (python) total-vm:1kB, anon-rss:1kB"),
            *polled(Kind.CONTAINER_OOM_KILL, component=CONTAINER, after=1, by="limit", pod_uid="6f2c"),
        ],
        "container-out-of-memory",
        RESUME,
    ),
    _fault(
        "the kubelet died",
        polled(Kind.NODE_KUBELET_DOWN, component=NODE, unit="kubelet", reason="refused"),
        "node-kubelet-down",
        PAGE,
    ),
    _fault(
        "the container runtime does not answer, and the kubelet says so as well",
        [
            *polled(Kind.CONTAINER_RUNTIME_DOWN, component=NODE, unit="containerd", reason="silent"),
            *service("kubelet", 'Skipping pod synchronization" err="container runtime is down"', 3),
        ],
        "container-runtime-down",
        PAGE,
    ),
)
AWS = (
    _fault(
        "a spot instance is taken back",
        from_aws(
            "EC2 Spot Instance Interruption Warning",
            {"instance-id": "i-0b662ef9931388ba0", "instance-action": "terminate"},
        ),
        "spot-interruption",
        RESUME,
    ),
    _fault(
        "an instance is terminated in the console: it is lost already",
        [*state("shutting-down"), *state("terminated", 40)],
        "instance-lost",
        REPLACE,
    ),
    _fault("an instance was stopped for a scheduled event", state("stopped"), "instance-lost", REPLACE),
    _fault(
        "a reboot is scheduled in two weeks",
        from_aws("AWS Health Event", health("AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED")),
        "instance-maintenance-scheduled",
        TELL,
    ),
    _fault(
        "a retirement is scheduled in two weeks",
        from_aws("AWS Health Event", health("AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED")),
        "instance-retirement-scheduled",
        REPLACE,
    ),
    _fault(
        "a capacity block ends in forty minutes",
        from_aws(
            "Capacity Block Reservation Expiration Warning",
            {"capacity-reservation-id": "cr-02168da1478b509e0", "end-date": "2026-03-01T10:40:00Z"},
        ),
        "capacity-expiring",
        TELL,
    ),
)
