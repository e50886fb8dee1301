"""The command from its words to what it prints, on the twins."""

import argparse
import io
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from console.commands import dlq
from console.dlq.model import DlqError
from tests.unit.console.dlq.desk import NOW, OUTBOX, PREFIX, TOKEN, Desk, envelope, kinesis_batch, reject, table_batch


@pytest.fixture
def desk() -> Desk:
    return Desk()


def answer(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def statuses(answer: dict[str, Any]) -> Sequence[str]:
    return [item["status"] for item in answer["items"]]


def test_an_empty_stack_says_so_and_is_no_failure(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.run("list") == 0
    shown = capsys.readouterr().out
    assert "decisions-dlq" in shown
    assert "Nothing waits for you" in shown


def test_the_list_tells_depths_reasons_and_failures(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.ask()
    desk.rejects.put([reject(1, b"a"), reject(2, b"b", hours=30), reject(3, b"c", reason="not UTF-8 JSON.")])
    desk.drop(kinesis_batch("one", "i-1"))
    desk.redrives.mark(f"{1:032x}", NOW)
    assert desk.run("list", "--json") == 0
    told = answer(capsys)
    assert told["empty"] is False
    assert [(one["name"], one["messages"], one["source"]) for one in told["queues"]] == [
        ("decisions-dlq", 1, "decisions")
    ]
    reasons = {one["reason"]: (one["count"], one["redriven"]) for one in told["rejects"]["by_reason"]}
    assert reasons == {"schema_version 2 is unknown.": (2, 1), "not UTF-8 JSON.": (1, 0)}
    assert told["failures"]["keys"] == [f"{PREFIX}one"]
    assert desk.run("list") == 0
    assert "relight dlq redrive NAME --dry-run" in capsys.readouterr().out


def test_rejects_older_than_the_days_asked_for_are_not_listed(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.rejects.put([reject(1, b"a", hours=24 * 5)])
    desk.run("list", "--json", "--days", "3")
    assert answer(capsys)["rejects"]["count"] == 0


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_task_token_is_never_printed(desk: Desk, form: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    desk.ask()
    assert desk.run("show", "decisions-dlq", *form) == 0
    shown = capsys.readouterr().out
    assert TOKEN not in shown
    assert "ask of c" in shown
    assert desk.queues.describe(desk.dead.url).depth == 1


def test_one_reject_is_found_by_the_first_letters_of_its_id(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    payload = envelope("i-1", spool_id="x" * 1_000)
    desk.rejects.put([reject(0xABC << 112, payload), reject(2, b"b")])
    assert desk.run("show", "rejects", "--id", "0abc", "--json") == 0
    (item,) = answer(capsys)["items"]
    assert item["body"] == payload.decode()
    assert item["why"] == "schema_version 2 is unknown. Update the pipeline."
    with pytest.raises(DlqError, match="no reject 'ffff' in the last 14 days"):
        desk.run("show", "rejects", "--id", "ffff")


def test_letters_that_more_than_one_id_begins_with_choose_none(desk: Desk) -> None:
    desk.rejects.put([reject(1, envelope("i-1")), reject(2, envelope("i-1"))])
    with pytest.raises(DlqError, match=r"2 rejects have ids like '0000'.*more of the id"):
        desk.run("redrive", "rejects", "--id", "0000", "--yes")
    assert not desk.stream.records


def test_failures_are_shown_with_their_records(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.drop(kinesis_batch("one", "i-1", "i-2"), table_batch("two"))
    assert desk.run("show", "failures") == 0
    shown = capsys.readouterr().out
    assert "RetryAttemptsExhausted: 2 records given up" in shown
    assert '"instance_id": "i-2"' in shown
    assert desk.run("show", "failures", "--id", "two") == 0
    assert "RecordAgeExceeded" in capsys.readouterr().out


def test_rejects_go_back_oldest_first_under_their_nodes_key(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = envelope("i-1", first_seq=1), envelope("i-1", first_seq=2)
    desk.rejects.put([reject(1, new, hours=1), reject(2, old, hours=30)])
    assert desk.run("redrive", "rejects", "--yes", "--json") == 0
    assert statuses(answer(capsys)) == ["redriven", "redriven"]
    assert desk.stream.records == [("i-1", old), ("i-1", new)]


def test_a_second_redrive_sends_nothing_without_again(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.rejects.put([reject(1, envelope("i-1"))])
    desk.run("redrive", "rejects", "--yes")
    assert desk.run("redrive", "rejects", "--yes") == 0
    assert "1 were redriven before" in capsys.readouterr().out
    assert desk.run("redrive", "rejects", "--id", f"{1:032x}", "--yes", "--json") == 1
    assert statuses(answer(capsys)) == ["refused"]
    assert len(desk.stream.records) == 1
    assert desk.run("redrive", "rejects", "--id", f"{1:032x}", "--yes", "--again") == 0
    assert len(desk.stream.records) == 2


def test_what_this_version_cannot_read_either_is_not_sent(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    unknown_kind = envelope("i-1", events=[{"seq": 0, "kind": "gpu.melted"}])
    desk.rejects.put(
        [reject(1, envelope("i-1", schema_version=2)), reject(2, unknown_kind), reject(3, envelope("i-2"))]
    )
    assert desk.run("redrive", "rejects", "--yes", "--json") == 1
    assert sorted(statuses(answer(capsys))) == ["redriven", "refused", "refused"]
    assert [key for key, _ in desk.stream.records] == ["i-2"]
    assert desk.redrives.marks.keys() == {f"{3:032x}"}


def test_a_failing_put_stops_its_node_and_no_other(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.rejects.put([reject(n, envelope(key), hours=9 - n) for n, key in enumerate(["i-1", "i-2", "i-1"])])
    desk.stream.refused.add("i-1")
    assert desk.run("redrive", "rejects", "--yes", "--json") == 1
    told = answer(capsys)
    assert statuses(told) == ["failed", "redriven", "failed"]
    assert "an earlier record of i-1 failed" in told["items"][2]["detail"]
    desk.stream.refused.clear()
    assert desk.run("redrive", "rejects", "--yes", "--json") == 0
    assert answer(capsys)["redriven_before"] == 1
    assert [key for key, _ in desk.stream.records] == ["i-2", "i-1", "i-1"]


def test_a_dry_run_sends_and_marks_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.ask()
    desk.rejects.put([reject(1, envelope("i-1"))])
    desk.drop(kinesis_batch("one", "i-1"))
    for place in ("decisions-dlq", "rejects", "failures"):
        assert desk.run("redrive", place, "--dry-run", "--json") == 0
        assert statuses(answer(capsys)) == ["planned"]
    assert not desk.stream.records
    assert not desk.redrives.marks
    assert desk.queues.describe(desk.dead.url).depth == 1


def test_a_given_up_batch_goes_back_in_order(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.drop(kinesis_batch("one", "i-1", "i-2", "i-1"), table_batch("two"))
    assert desk.run("redrive", "failures", "--yes", "--json") == 0
    assert [key for key, _ in desk.stream.records] == ["i-1", "i-2", "i-1"]
    assert desk.targets.called == [(OUTBOX, {"Records": [{"dynamodb": {}}]})]
    capsys.readouterr()
    assert desk.run("redrive", "failures", "--yes", "--json") == 0
    assert answer(capsys)["redriven_before"] == 2
    assert len(desk.stream.records) == 3


def test_a_given_up_batch_of_the_archive_goes_to_the_archive_alone(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = kinesis_batch("one", "i-1")
    desk.stack = replace(
        desk.stack, outputs={**desk.stack.outputs, "ArchiveFunction": batch.function.rpartition(":")[2]}
    )
    desk.drop(batch)
    assert desk.run("redrive", "failures", "--yes") == 0
    assert desk.stream.records == []
    assert desk.targets.called == [(batch.function, batch.event)]
    assert "1 records to outboxx" in capsys.readouterr().out


def test_a_batch_that_half_fails_is_left_and_can_be_sent_again(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.drop(kinesis_batch("one", "i-1", "i-2"), table_batch("two"))
    desk.stream.refused.add("i-1")
    desk.targets.failing.add(OUTBOX)
    assert desk.run("redrive", "failures", "--yes", "--json") == 1
    told = answer(capsys)
    assert statuses(told) == ["failed", "failed"]
    assert "1 of 2 records did not get through" in told["items"][0]["detail"]
    desk.stream.refused.clear()
    desk.targets.failing.clear()
    assert desk.run("redrive", "failures", "--yes") == 0


def test_an_id_of_failures_must_name_one(desk: Desk) -> None:
    desk.drop(kinesis_batch("one", "i-1"), kinesis_batch("only", "i-1"))
    with pytest.raises(DlqError, match="2 batches have the id 'on'"):
        desk.run("redrive", "failures", "--id", "on", "--yes")
    assert desk.run("redrive", "failures", "--id", "onl", "--yes") == 0


def test_messages_go_back_to_their_queue(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.ask()
    assert desk.run("redrive", "decisions-dlq", "--yes", "--json") == 0
    assert statuses(answer(capsys)) == ["redriven"]
    assert desk.queues.describe(desk.dead.url).depth == 0
    assert desk.run("redrive", "decisions-dlq", "--yes") == 0
    assert "nothing to redrive" in capsys.readouterr().out


def test_without_a_person_and_without_yes_nothing_is_sent(
    desk: Desk, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.rejects.put([reject(1, envelope("i-1"))])
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert desk.run("redrive", "rejects") == 2
    assert "--dry-run" in capsys.readouterr().err
    assert not desk.stream.records


class _Person(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_person_is_asked_and_may_say_no(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.rejects.put([reject(1, envelope("i-1"))])
    monkeypatch.setattr("sys.stdin", _Person("n\n"))
    with pytest.raises(DlqError, match="the answer was no"):
        desk.run("redrive", "rejects")
    assert not desk.stream.records
    monkeypatch.setattr("sys.stdin", _Person("y\n"))
    assert desk.run("redrive", "rejects") == 0
    assert len(desk.stream.records) == 1


def test_without_a_region_the_command_says_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    parser = argparse.ArgumentParser()
    dlq.add_arguments(parser)
    assert dlq.run(parser.parse_args(["list"])) == 1
    assert "Name it with --region" in capsys.readouterr().err
