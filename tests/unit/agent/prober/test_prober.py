import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.prober import client
from agent.prober.client import ProbeError, ProbeFailedError, ProbeHungError, Prober
from tests.tools.sources import eventually

TOPICS = dict.fromkeys(("one", "two"), "tests.tools.prober_topics:Odd")
ROOT = Path(__file__).resolve().parents[4]
SOON = 60.0  # a child begins within a second, on a busy machine within some


@pytest.fixture
def prober() -> Iterator[Prober]:
    made = Prober(TOPICS, environ={"PYTHONPATH": str(ROOT)})
    yield made
    made.close()


def test_it_answers(prober: Prober) -> None:
    assert prober.ask("one", {"say": "é\n"}, SOON)["said"] == "é\n"
    assert prober.ask("two", {"say": [1]}, SOON)["said"] == [1]


def test_what_is_raised_there_is_told_here(prober: Prober) -> None:
    with pytest.raises(ProbeFailedError, match="no such device") as caught:
        prober.ask("one", {"raise": "no such device"}, SOON)
    assert caught.value.kind == "ValueError"
    assert prober.ask("one", {"say": 1}, SOON)["said"] == 1


def test_a_call_that_hangs_costs_an_answer_and_no_other_topic(prober: Prober, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    prober.ask("one", {}, SOON)
    with pytest.raises(ProbeHungError):
        prober.ask("one", {"until": str(go_on)}, 0.05)
    with pytest.raises(ProbeHungError):
        prober.ask("one", {"say": 1}, SOON)  # at once: it is not queued behind the one that hangs
    assert prober.ask("two", {"say": 2}, SOON)["said"] == 2
    go_on.touch()
    eventually(lambda: _answers(prober))


def _answers(prober: Prober) -> bool:
    try:
        prober.ask("one", {}, SOON)
    except ProbeError:
        return False
    return True


def test_a_prober_that_died_begins_again(prober: Prober, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)
    before = prober.ask("one", {}, SOON)["pid"]
    with pytest.raises(ProbeFailedError, match="ended"):
        prober.ask("one", {"die": True}, SOON)
    eventually(lambda: _answers(prober))
    assert prober.ask("one", {}, SOON)["pid"] != before


def test_one_that_hangs_for_long_is_given_up_a_few_times_and_not_for_ever(
    prober: Prober, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "GIVE_UP_SECONDS", 0.0)
    monkeypatch.setattr(client, "_LONGEST_PAUSE", 0.0)
    first = prober.ask("one", {}, SOON)["pid"]
    with pytest.raises(ProbeHungError):
        prober.ask("one", {"sleep": 300}, 0.05)
    eventually(lambda: _answers(prober))
    assert prober.ask("one", {}, SOON)["pid"] != first
    monkeypatch.setattr(client, "MOST_GIVEN_UP", 0)
    with pytest.raises(ProbeHungError):
        prober.ask("one", {"sleep": 300}, 0.05)
    with pytest.raises(ProbeHungError):
        prober.ask("one", {}, SOON)


def test_what_a_topic_says_unasked_is_heard(prober: Prober) -> None:
    heard: list[Any] = []
    prober.listen("one", heard.append)
    prober.ask("one", {"push": {"xid": 79}}, SOON)
    eventually(lambda: heard == [{"xid": 79}])


def test_what_a_library_prints_stands_in_no_answer(prober: Prober, capfd: pytest.CaptureFixture[str]) -> None:
    assert prober.ask("one", {"print": "NVRM: half a line", "say": 1}, SOON)["said"] == 1
    assert "half a line" in capfd.readouterr().err


NONSENSE = (
    *("null", "5", "[]", "{}", '"id"', '{"id": 1}', '{"id": [1], "ok": 1}', '{"id": 999999, "ok": 1}', "[" * 99999),
    *('{"push": 1}', '{"push": 1, "topic": {}}', '{"push": 1, "topic": "two"}', '{"ok": 1}', "\0\0", "x" * 300_000),
)


@pytest.mark.parametrize("nonsense", NONSENSE, ids=range(len(NONSENSE)))
def test_a_prober_that_talks_nonsense_is_still_heard(prober: Prober, nonsense: str) -> None:
    heard: list[Any] = []

    def listener(push: Any) -> None:  # noqa: ANN401
        heard.append(push["xid"])

    prober.listen("two", listener)
    prober.ask("one", {"out": f"{nonsense}\n"}, SOON)
    assert prober.ask("one", {"say": 2}, SOON)["said"] == 2
    prober.ask("two", {"push": {"xid": 79}}, SOON)
    eventually(lambda: heard == [79])


def test_it_outlives_the_thread_that_asked_first(prober: Prober) -> None:
    """A source ends when its settings change; the kernel takes the thread that begins a child for its parent."""
    first: list[int] = []
    asking = threading.Thread(target=lambda: first.append(prober.ask("one", {}, SOON)["pid"]))
    asking.start()
    asking.join()
    assert prober.ask("one", {"sleep": 0.2}, SOON)["pid"] == first[0]


def test_who_waits_for_an_answer_hears_at_once_that_it_was_closed(prober: Prober) -> None:
    prober.ask("one", {}, SOON)
    threading.Timer(0.2, prober.close).start()
    began = time.monotonic()
    with pytest.raises(ProbeFailedError, match="closed"):
        prober.ask("one", {"sleep": 300}, 200)
    assert time.monotonic() - began < SOON


def test_one_that_cannot_be_begun_is_a_failed_probe(prober: Prober, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prober, "_words", ["/nowhere/python"])
    with pytest.raises(ProbeFailedError, match="cannot be begun"):
        prober.ask("one", {}, SOON)


def test_a_child_that_is_stopped_holds_up_nobody_who_asks(prober: Prober) -> None:
    os.kill(prober.ask("one", {}, SOON)["pid"], signal.SIGSTOP)
    for topic in ("one", "two"):
        with pytest.raises(ProbeHungError):
            prober.ask(topic, {"say": "x" * 300_000}, 0.05)


def test_many_beginnings_leave_nothing_behind(prober: Prober, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(client, "_LONGEST_PAUSE", 0.0)
    own = Path("/proc/self")
    before = len(list((own / "fd").iterdir())), threading.active_count()
    for _ in range(20):
        with pytest.raises(ProbeFailedError):
            prober.ask("one", {"die": True}, SOON)
    eventually(lambda: threading.active_count() <= before[1])
    assert len(list((own / "fd").iterdir())) <= before[0]
    children = (own / "task" / str(os.getpid()) / "children").read_text().split()
    assert [pid for pid in children if not _is_alive(int(pid))] == []


def test_it_ends_with_its_parent() -> None:
    script = (
        "import json,sys,time; from agent.prober.client import Prober;"
        f"p=Prober({TOPICS!r}); print(p.ask('one', {{}}, 60)['pid'], flush=True); time.sleep(300)"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=ROOT, env=_environ()) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    eventually(lambda: not _is_alive(child))


def _environ() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def _is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_closed_prober_says_so(prober: Prober) -> None:
    prober.close()
    with pytest.raises(ProbeFailedError, match="closed"):
        prober.ask("one", {}, SOON)


def test_while_it_rests_there_is_no_child_and_after_it_there_is_one_again(prober: Prober) -> None:
    child = prober.ask("one", {}, SOON)["pid"]
    with prober.resting():
        assert not _is_alive(child)
        with pytest.raises(ProbeFailedError, match="rests"):
            prober.ask("one", {}, SOON)
    assert prober.ask("one", {}, SOON)["pid"] != child


def test_the_child_is_small() -> None:
    script = "import agent.prober.child, sys; print(sorted({'pydantic', 'boto3', 'asyncio'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
