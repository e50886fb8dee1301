"""What triage cannot use is put aside with its reason, and blocks nobody."""

import json
from typing import Any

import pytest

from functions.ports.triage import NodeKey
from functions.triage import judging
from policies.contract.envelope import parse_envelope
from policies.evaluator import Delivery, Evaluation, evaluate
from tests.tools.envelopes import envelope, event, node
from tests.tools.triage_bench import Bench


def test_bad_records_are_put_aside_with_their_reason_and_the_rest_goes_through() -> None:
    bench = Bench()
    unknown_version = json.dumps({**json.loads(envelope(event(0)).to_json()), "schema_version": 2}).encode()
    good = envelope(event(0))
    assert bench.take(b"\x00" * (1 << 20), b"{", b"[]", unknown_version, good) == []
    assert len(bench.finding_ids) == 1
    reasons = " | ".join(one.reason for one in bench.rejects.kept.values())
    for reason in ("1048576 bytes", "not UTF-8 JSON", "JSON list", "schema_version 2 is unknown"):
        assert reason in reasons
    assert all(one.hint for one in bench.rejects.kept.values())
    assert bench.telemetry.counts["RecordsRejected"] == 4


def test_an_unknown_kind_is_put_aside_alone_and_can_be_sent_again_as_it_lies_there() -> None:
    bench = Bench()
    document = json.loads(envelope(event(0), event(1, xid=63)).to_json())
    document["events"][1]["kind"] = "gpu.not_invented_yet"
    bench.take(json.dumps(document).encode())
    assert len(bench.finding_ids) == 1
    (reject,) = bench.rejects.kept.values()
    assert (reject.cluster, reject.instance_id) == ("c", "i-1")
    assert "kind" in reject.reason
    assert parse_envelope(reject.payload).rejected  # this version does not understand it today either
    bench.take(reject.payload.replace(b"gpu.not_invented_yet", b"gpu.xid"))
    assert len(bench.finding_ids) == 2
    assert bench.telemetry.counts["EventsReceived"] == 2


def test_the_same_bad_record_again_is_the_same_reject() -> None:
    bench = Bench()
    bench.take(b"{")
    bench.take(b"{")
    assert len(bench.rejects.kept) == 1
    assert bench.telemetry.counts["RecordsRejected"] == 1
    assert len(bench.telemetry.remarks) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"cluster": "my cluster"},
        {"cluster": "c" * 101},
        {"cluster": "é"},
        {"instance_id": "i" * 300},
        {"instance_id": "i 1"},
        {"boot_id": "b" * 5000},
        {"network_path": ["n"] * 50},
        {"name": "n" * 300},
        {"driver_version": "5" * 300},
    ],
)
def test_names_that_no_table_or_queue_takes_are_rejected_and_do_not_block_the_shard(change: dict[str, Any]) -> None:
    bench = Bench()
    document = json.loads(envelope(event(0)).to_json())
    document["node"] |= change
    assert bench.take(json.dumps(document).encode(), envelope(event(0))) == []
    assert len(bench.finding_ids) == 1
    (reject,) = bench.rejects.kept.values()
    assert reject.reason.startswith("the sender's ")


def test_a_spool_with_an_endless_name_is_rejected() -> None:
    bench = Bench()
    bench.take(envelope(event(0), spool="s" * 1000))
    assert len(bench.rejects.kept) == 1


@pytest.mark.parametrize(
    "text", ['{"v":1,"s":[],"c":{}}', '{"v":1,"s":{"spool":7},"c":{}}', '{"v":1,"s":{},"c":{"x":1}}']
)
def test_a_state_that_only_looks_sound_starts_afresh_and_is_told(text: str) -> None:
    bench = Bench()
    bench.states.stored[NodeKey("c", "i-1")] = (text, 3, bench.now)
    assert bench.take(envelope(event(0)), envelope(event(0), identity=node("i-2"))) == []
    assert len(bench.finding_ids) == 2
    assert bench.telemetry.counts["StatesUnreadable"] == 1


def test_what_breaks_the_judging_of_one_node_is_put_aside_and_the_others_go_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The evaluator is not known to break; if it does, it must not stop a shard."""
    bench = Bench()

    def breaking(deliveries: list[Delivery], **rest: Any) -> Evaluation:  # noqa: ANN401 - the evaluator's own
        if deliveries[0].parsed.envelope.node.instance_id == "i-1":
            raise ZeroDivisionError
        return evaluate(deliveries, **rest)

    monkeypatch.setattr(judging, "evaluate", breaking)
    assert bench.take(envelope(event(0)), envelope(event(0), identity=node("i-2"))) == []
    assert len(bench.finding_ids) == 1
    (reject,) = bench.rejects.kept.values()
    assert "ZeroDivisionError" in reject.reason
    assert reject.payload == envelope(event(0)).to_json().encode()
