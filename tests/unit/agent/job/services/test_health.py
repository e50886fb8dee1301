from collections.abc import Iterator
from typing import Any

import pytest

from agent.job.services.asking import Answer
from agent.job.services.health import ServicePoll, kubelet, runtime
from agent.polls.reading import NotHereError
from tests.tools.polling import Bench, bench, measure

SOCKET = "/run/containerd/containerd.sock"


class Asked:
    """A service that answers as told."""

    def __init__(self, *, belongs: bool = False) -> None:
        self.answer = Answer.WELL
        self.poll = ServicePoll(runtime(SOCKET), lambda: self.answer, lambda: belongs)


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


def look_for(work: Bench, poll: ServicePoll, begin: int, seconds: int, uptime: float = 10_000) -> list[dict[str, Any]]:
    seconds_of = range(begin, begin + seconds, 5)
    return [event for second in seconds_of for event in work.poll(poll, second, uptime=uptime)]


@pytest.mark.parametrize("answer", [Answer.UNWELL, Answer.SILENT, Answer.REFUSED, Answer.ABSENT])
def test_one_that_answered_and_does_no_more_is_down_after_half_a_minute(work: Bench, answer: Answer) -> None:
    asked = Asked()
    assert look_for(work, asked.poll, 0, 20) == []
    asked.answer = answer
    assert look_for(work, asked.poll, 20, 30) == []
    (event,) = look_for(work, asked.poll, 50, 60)
    assert (event["kind"], event["component"]) == ("container.runtime_down", {"type": "node"})
    assert event["attributes"] == {"unit": "containerd", "reason": answer.value}
    asked.answer = Answer.WELL
    (over,) = look_for(work, asked.poll, 110, 60)
    assert over["attributes"]["of"] == "container.runtime_down"


def test_a_restart_is_no_fault(work: Bench) -> None:
    asked = Asked()
    look_for(work, asked.poll, 0, 20)
    asked.answer = Answer.REFUSED
    assert look_for(work, asked.poll, 20, 25) == []
    asked.answer = Answer.WELL
    assert look_for(work, asked.poll, 45, 60) == []


def test_while_the_node_boots_silence_is_no_fault(work: Bench) -> None:
    asked = Asked(belongs=True)
    asked.answer = Answer.REFUSED
    assert look_for(work, asked.poll, 0, 200, uptime=60) == []
    assert len(look_for(work, asked.poll, 240, 20, uptime=60)) == 1


@pytest.mark.parametrize("answer", [Answer.REFUSED, Answer.ABSENT])
def test_what_was_never_here_is_not_missed(answer: Answer) -> None:
    asked = Asked()
    asked.answer = answer
    with pytest.raises(NotHereError, match=r"no containerd at /run/containerd/containerd\.sock"):
        measure(asked.poll)


def test_one_that_belongs_here_is_missed_even_if_it_never_answered(work: Bench) -> None:
    asked = Asked(belongs=True)
    asked.answer = Answer.REFUSED
    assert len(look_for(work, asked.poll, 0, 60)) == 1


def test_who_may_not_ask_says_what_would_let_it() -> None:
    asked = Asked()
    asked.answer = Answer.BARRED
    with pytest.raises(NotHereError, match="root"):
        measure(asked.poll)


def test_one_that_may_be_asked_no_more_is_neither_down_nor_well(work: Bench) -> None:
    asked = Asked()
    look_for(work, asked.poll, 0, 20)
    asked.answer = Answer.REFUSED
    assert len(look_for(work, asked.poll, 20, 60)) == 1
    asked.answer = Answer.BARRED
    assert look_for(work, asked.poll, 80, 100) == []


def test_a_kubelet_has_a_fault_of_its_own(work: Bench) -> None:
    poll = ServicePoll(kubelet("http://127.0.0.1:10248/healthz"), lambda: Answer.SILENT, lambda: True)
    (event,) = look_for(work, poll, 0, 60)
    assert (event["kind"], event["attributes"]["reason"]) == ("node.kubelet_down", "silent")
