"""A heartbeat that is known by its bytes says what a reader of its JSON would say, or is not known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.ports.triage import NodeKey
from policies.contract.envelope import parse_envelope
from policies.contract.errors import BadInputError
from simulator.heartbeats import Heartbeat, Heartbeats
from tests.tools.envelopes import envelope, event, node

NAMES = st.sampled_from(["n", 'a"first_seq":7', ',"sent_at":"', 'x","first_seq":3,"sent_at":"y', "ü\\"])
CHANGES = st.sampled_from([
    (b'"first_seq":', b'"first_seq":0'),
    (b'"first_seq":', b'"first_seq":-'),
    (b'"first_seq":', b'"first_seq":1.'),
    (b'"first_seq":', b'"first_seq":1e'),
    (b'"first_seq":', b'"first_seq":99999999999999999'),
    (b"Z", b"+01:00"),
    (b"-", b"/"),
    (b'"events":[]', b'"events":[],"first_seq":4'),
    (b'"sent_at"', b'"first_seq":9,"sent_at"'),
    (b'"events":[]', b'"events":[{}]'),
    (b"", b""),
])  # fmt: skip


def body(name: str, first_seq: int, seconds: float) -> bytes:
    made = envelope(sent=seconds, identity=node("i-1").model_copy(update={"name": name}), first_seq=first_seq)
    return made.to_json().encode()


def read(raw: bytes) -> Heartbeat | None:
    """What the JSON says; None: it is no heartbeat."""
    try:
        parsed = parse_envelope(raw)
    except BadInputError:
        return None
    told = parsed.envelope
    if told.events or told.jobs or parsed.rejected:
        return None
    return Heartbeat(NodeKey(told.node.cluster, told.node.instance_id), told.spool_id, told.first_seq, "", own=True)


@given(NAMES, NAMES, st.integers(0, 2**40), st.integers(0, 2**40), st.floats(0, 1e6), CHANGES)
def test_what_is_known_is_what_a_reader_would_say(
    name: str, other: str, before: int, after: int, seconds: float, change: tuple[bytes, bytes]
) -> None:
    beats = Heartbeats()
    first = body(name, before, 0.0)
    said = read(first)
    assert said is not None
    beats.learn(first, said)
    changed = body(other, after, seconds).replace(*change, 1)
    assert beats.find(changed) in {None, read(changed)}


def test_one_that_is_further_on_and_later_is_known_and_a_fault_is_not() -> None:
    beats = Heartbeats()
    said = read(body("n", 3, 0.0))
    assert said is not None
    beats.learn(body("n", 3, 0.0), said)
    assert beats.find(body("n", 12, 30.0)) == said._replace(first_seq=12)
    assert beats.find(body("other", 12, 30.0)) is None
    fault = envelope(event(3, 30.0, xid=79), sent=30.0, identity=node("i-1"), first_seq=3)
    assert beats.find(fault.to_json().encode()) is None


@pytest.mark.parametrize("raw", [b"", b"{}", b'{"events":[]}', b'"first_seq":1,"sent_at":"2026'])
def test_what_is_no_heartbeat_is_not_learnt(raw: bytes) -> None:
    beats = Heartbeats()
    beats.learn(raw, Heartbeat(NodeKey("c", "i"), "s", 1, "", own=True))
    assert beats.find(raw) is None
