import io
import json
import sys
from pathlib import Path

import pytest

from console.main import main

RECORD = "NVRM: Xid (PCI:0000:4b:00): 79, GPU has fallen off the bus."
EVENT = {
    "kind": "gpu.xid",
    "severity": "critical",
    "component": {"type": "gpu", "pci": "0000:4b:00"},
    "attributes": {"xid": 79, "occurrence": "bus:0000:4b:00"},
}


@pytest.fixture
def say(monkeypatch: pytest.MonkeyPatch) -> io.BytesIO:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    return raw


def answers(capsys: pytest.CaptureFixture[str]) -> list[object]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_json_lines_are_answered_one_by_one(say: io.BytesIO, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [{"id": "a", "record": RECORD, "driver": "570.148.08"}, {"id": 2, "record": "nothing"}]
    say.write("\n".join(json.dumps(line) for line in lines).encode() + b"\n\n")
    say.seek(0)
    assert main(["agent", "parse"]) == 0
    assert answers(capsys) == [{"id": "a", "events": [EVENT]}, {"id": 2, "events": []}]


def test_a_line_that_is_no_question_is_told_and_the_rest_answered(
    say: io.BytesIO, capsys: pytest.CaptureFixture[str]
) -> None:
    say.write(b'nope\n{"id": 1}\n\xff\n' + json.dumps({"id": 3, "record": "\ud800" + RECORD}).encode() + b"\n")
    say.seek(0)
    assert main(["agent", "parse"]) == 1
    shown = capsys.readouterr()
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == [3]
    assert shown.err.count("is not a question") == 3


def test_plain_lines_are_numbered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "kernel.log"
    path.write_bytes(b"\xff\n" + RECORD.encode() + b"\n")
    assert main(["agent", "parse", "--text", str(path)]) == 0
    assert answers(capsys) == [{"id": 1, "events": []}, {"id": 2, "events": [EVENT]}]


def test_a_missing_file_is_asked_wrongly(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "parse", "--text", str(tmp_path / "missing")]) == 2
    assert "No such file or directory. Name a file." in capsys.readouterr().err
    assert main(["agent", "parse", "--text", str(tmp_path)]) == 2
    assert "Is a directory. Name a file." in capsys.readouterr().err


def test_a_rank_s_log_has_its_own_rules(say: io.BytesIO, capsys: pytest.CaptureFixture[str]) -> None:
    line = "[rank7]: RuntimeError: CUDA error: uncorrectable ECC error encountered"
    say.write(json.dumps({"id": 1, "record": line}).encode())
    say.seek(0)
    assert main(["agent", "parse", "--training-log"]) == 0
    (answer,) = answers(capsys)
    assert answer == {
        "id": 1,
        "events": [
            {
                "kind": "training.gpu_error",
                "severity": "error",
                "component": {"type": "process"},
                "attributes": {"rank": 7},
            }
        ],
    }
