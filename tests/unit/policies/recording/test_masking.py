"""Nobody's name survives in an example, and the same name is the same there too."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from policies.recording.masking import Mask
from policies.recording.patterns import PATTERNS
from policies.recording.sightings import Sighting
from policies.recording.substitutes import Sort, Substitutes
from policies.recording.telling import tell_events

AT = datetime(2026, 11, 30, 7, tzinfo=UTC)
NODE = NodeIdentity(
    cluster="west-prod",
    name="ip-10-1-2-3.us-west-2.compute.internal",
    instance_id="i-0abc1234def567890",
    instance_type="p5.48xlarge",
    network_path=("nn-0aaaaaaaaaaaaaaaa", "nn-0bbbbbbbbbbbbbbbb", "nn-0cccccccccccccccc"),
    boot_id="6f1c2b0a-9d8e-4c7b-8a6f-5e4d3c2b1a09",
)
OTHER = NodeIdentity(cluster="west-prod", name="gpu-node-17", instance_id="i-0fff0000fff00000f")
JOB = JobRef(id="team-falcon/llama-70b", rank=3, step=1200, checkpoint="s3://falcon-ckpt/llama/run7")
UUID = "GPU-8a2c1f0e-1b2c-4d3e-9f8a-7b6c5d4e3f2a"


def seen(
    message: str = "",
    attributes: dict[str, Scalar] | None = None,
    *,
    node: NodeIdentity = NODE,
    job: JobRef | None = JOB,
    number: int = 0,
) -> Sighting:
    event = FaultEvent(
        id=stable_id("seen", number),
        seq=number,
        kind=Kind.GPU_XID,
        severity=Severity.ERROR,
        source=Source.KERNEL_LOG,
        observed_at=AT,
        first_observed_at=AT,
        component=Component(type=ComponentType.GPU, index=3, uuid=UUID, pci="0000:4b:00", serial="1652922012345"),
        job=job,
        attributes=attributes or {},
        message=message,
    )
    return Sighting(event, node, AT)


def told(*sightings: Sighting, keep: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    return tell_events(sightings, Mask(sightings, [OTHER], keep), rack_level=0)


def message(text: str, *, keep: tuple[str, ...] = ()) -> str:
    (event,) = told(seen(text), keep=keep)
    found: str = event["message"]
    return found


@pytest.mark.parametrize(
    ("line", "gone", "stays"),
    [
        ("NVRM: Xid (PCI:0000:4b:00): 79, pid=48213, name=python3, GPU has fallen off the bus.",
         ["48213"], "NVRM: Xid (PCI:0000:4b:00): 79, pid=10002, name=python3, GPU has fallen off the bus."),
        ("NVRM: Xid (PCI:0000:4b:00): 31, pid=911, name=falcon_train", ["falcon", "911"], "name=program-1"),
        ("Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, off", [], "pid='<unknown>', name=<unknown>, off"),
        ("NVRM: GPU at PCI:0000:4b:00: GPU-8a2c1f0e-1b2c-4d3e-9f8a-7b6c5d4e3f2a",
         ["8a2c1f0e"], "GPU-00000000-0000-0000-0000-000000000001"),
        ("NVRM: GPU Board Serial Number: 1652922012345", ["1652922012345"], "Serial Number: serial-1"),
        ("pcieport 0000:3b:00.0: AER: Corrected error", [], "pcieport 0000:3b:00.0: AER: Corrected error"),
        ("connect to 10.1.2.3:29500 failed", ["10.1.2.3"], "connect to 192.0.2.1:29500 failed"),
        ("[2a05:d014::5f1] timed out", ["2a05"], "[2001:db8::1] timed out"),
        ("nfs: server fs-0123456789abcdef0.efs.us-west-2.amazonaws.com not responding",
         ["fs-0123", "efs"], "nfs: server host-1 not responding"),
        ("LustreError: abcdbev-OST0003-osc-ffff8881: 10.9.8.7@tcp was lost", ["abcdbev", "10.9.8.7"], "-OST0003"),
        ("mount 10.0.0.9:/vol/falcon failed", ["10.0.0.9", "falcon", "vol"], "mount "),
        ('File "/fsx/users/alice/train.py", line 3', ["alice", "train.py"], "line 3"),
        ("session opened for user alice by alice@login-2", ["alice", "login-2"], "session opened for user user-"),
        ("Out of memory: Killed process 48213 (secret_sauce) total-vm:137GB", ["48213", "secret"], "total-vm:137GB"),
        ("INFO: task falcon_io:48213 blocked for more than 120 seconds.", ["falcon", "48213"], "120 seconds."),
        ("slurmstepd[4821]: error", ["4821"], "slurmstepd[1000"),
        ("pod team-falcon/llama-70b-worker-3 evicted", ["falcon", "llama"], "evicted"),
        ("peer gpu-node-17 (i-0fff0000fff00000f) is gone", ["gpu-node-17", "0fff"], "peer node-b (i-b) is gone"),
        ("ip-10-1-2-3 kernel: oops on IP-10-1-2-3.us-west-2.compute.internal",
         ["10-1-2-3"], "node-a kernel: oops on node-a"),
        ("arn:aws:health:us-west-2:123456789012:event/x is open", ["123456789012"], "resource-1 is open"),
        ("link 52:54:00:12:34:56 down at 2026-11-30T07:00:01Z",
         ["52:54", "2026"], "link 02:00:00:00:00:01 down at (then)"),
        ("I/O error, 94/95, read/write, 3 of 4", [], "I/O error, 94/95, read/write, 3 of 4"),
    ],
)  # fmt: skip
def test_a_line_keeps_its_sense_and_loses_its_names(line: str, gone: list[str], stays: str) -> None:
    masked = message(line)
    assert [text for text in gone if text in masked] == []
    assert stays in masked


def test_the_same_name_has_the_same_substitute_wherever_it_stands() -> None:
    first, second = told(
        seen("python3[48213]: lost gpu-node-17", {"pid": 48213, "remote": "gpu-node-17", "mount": "/fsx/falcon"}),
        seen("pid 48213 reads /fsx/falcon", {"peer": "i-0fff0000fff00000f"}, node=OTHER, number=1),
    )
    assert str(first["attributes"]["pid"]) in second["message"]
    assert first["attributes"]["mount"] in second["message"]
    assert first["attributes"]["remote"] == second["node"] == "node-b"
    assert second["attributes"]["peer"] == "i-b"
    assert first["component"]["uuid"] == second["component"]["uuid"]
    assert first["job"]["id"] == second["job"]["id"]


def test_what_a_policy_asks_for_by_name_stays_unless_it_is_somebodys() -> None:
    (event,) = told(
        seen("", {"process": "fsdp_main", "file": "gpu-node-17", "mount": "/"}), keep=("fsdp_main", "gpu-node-17")
    )
    assert event["attributes"] == {"process": "fsdp_main", "file": "node-b", "mount": "/"}


def test_numbers_places_and_words_stay() -> None:
    (event,) = told(seen("", {"xid": 79, "fatal": True, "recovery": "reset", "link": 3, "loss": 0.25}))
    assert event["attributes"] == {"xid": 79, "fatal": True, "recovery": "reset", "link": 3, "loss": 0.25}
    assert (event["component"]["pci"], event["component"]["index"]) == ("0000:4b:00", 3)
    assert (event["job"]["rank"], event["job"]["step"]) == (3, 1200)


def test_an_occurrence_is_named_by_its_first_event_in_the_example_too() -> None:
    first = seen(number=0)
    again = seen("", {"occurrence": first.event.id, "ongoing": True}, number=1)
    lost = seen("", {"occurrence": stable_id("long ago"), "ongoing": True}, number=2)
    events = told(first, again, lost)
    assert events[1]["attributes"]["occurrence"] == stable_id("example", 0)
    assert len(events[2]["attributes"]["occurrence"]) == 32
    assert events[2]["attributes"]["occurrence"] != stable_id("long ago")


def test_a_substitute_never_is_a_name_that_was_there() -> None:
    subs = Substitutes("node-a was beside node-b", ["node-a", "node-b"])
    assert subs.of(Sort.NODE, "node-a") == "node-c"
    assert Substitutes("", ["node"]).of(Sort.NODE, "node") == "masked-2001"


def test_every_pattern_says_what_it_finds() -> None:
    assert [each for each in PATTERNS if "(?P<" in each and not any(f"(?P<{sort.name}>" in each for sort in Sort)] == []


WORD = st.text("abcdefghijklmnopqrstuvwxyz", min_size=4, max_size=8)
HEX = "0123456789abcdef"
NAMES = {
    "instance": st.text(HEX, min_size=17, max_size=17).map("i-{}".format),
    "node": st.one_of(
        st.tuples(WORD, st.integers(0, 999)).map(lambda two: f"{two[0]}-gpu-{two[1]}"),
        st.lists(st.integers(1, 254), min_size=4, max_size=4).map(
            lambda four: f"ip-{four[0]}-{four[1]}-{four[2]}-{four[3]}.ec2.internal"
        ),
    ),
    "job": st.tuples(WORD, WORD).map(lambda two: f"ns{two[0]}/job{two[1]}"),
    "uuid": st.uuids().map("GPU-{}".format),
    "serial": st.integers(10**12, 10**13 - 1).map(str),
    "ip": st.lists(st.integers(11, 250), min_size=4, max_size=4).map(lambda four: ".".join(map(str, four))),
    "user": WORD.map("usr{}".format),
    "path": st.lists(WORD, min_size=2, max_size=4).map(lambda parts: "/" + "/".join(parts)),
}
FRAMES = [
    "kernel: {} failed", "error at {}: timed out", "({})", "'{}', then {}", "waiting for {} and {}.", "{}", "lost={}"
]  # fmt: skip


@given(st.fixed_dictionaries(NAMES), st.sampled_from(FRAMES), st.randoms(use_true_random=False))
def test_no_name_survives_anywhere(names: dict[str, str], frame: str, random: Any) -> None:  # noqa: ANN401 - hypothesis's
    spoken = [names[each] for each in ("instance", "node", "job", "uuid", "ip", "path", "serial")]
    lines = [frame.format(random.choice(spoken), random.choice(spoken)) for _each in range(3)]
    lines += [f"user={names['user']} runs", f"for user {names['user']} of {names['user']}@{names['node']}"]
    node = NODE.model_copy(update={"instance_id": names["instance"], "name": names["node"]})
    attributes: dict[str, Scalar] = {
        "remote": names["node"],
        "peer": names["ip"],
        "mount": names["path"],
        "user": names["user"],
        "said": random.choice(spoken),
    }
    job = JOB.model_copy(update={"id": names["job"]})
    sightings = [seen(line, attributes, node=node, job=job, number=at) for at, line in enumerate(lines)]
    part = sightings[0].event.component
    assert part is not None
    named = part.model_copy(update={"uuid": names["uuid"], "serial": names["serial"]})
    sightings = [Sighting(one.event.model_copy(update={"component": named}), one.node, one.moment) for one in sightings]
    events = told(*sightings)
    text = json.dumps(events).casefold()
    whole = [*names.values(), names["uuid"].removeprefix("GPU-"), *names["job"].split("/")]
    assert [name for name in whole if name.casefold() in text] == []
    assert len({json.dumps(event.get("attributes", {}).get("remote")) for event in events}) == 1
    assert len({event["component"]["uuid"] for event in events}) == 1
