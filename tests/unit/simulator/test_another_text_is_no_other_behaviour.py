"""A policy whose words differ does what it did: its incidents bear other names, and go as they went."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.rungs import Rung
from policies.contract.times import format_time
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.notes import STAGE_OF
from simulator import checkpoint
from simulator.backtest import Against, Asked, Report, backtest, read_past
from simulator.deeds import Difference
from simulator.durations import typical_seconds
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from tests.tools.replays import documents, history, incidents, lived, shelved

Document = dict[str, Any]
SHIPPED = Path(__file__).parents[3] / "policies" / "shipped"
EXAMPLE = {"says": "What happened last week.", "events": [{"kind": "gpu.reset"}], "findings": 0}


@cache
def shipped() -> Sequence[Document]:
    files = sorted(SHIPPED.glob("*.yaml"))
    return [{**yaml.load(each.read_text(), yaml.CSafeLoader), "mode": "active"} for each in files]


def heads(those: Sequence[Document], revisions: Revisions | None = None) -> list[Any]:
    return [(revisions or Revisions()).head_of(each, PolicyMode(each["mode"])) for each in those]


def asked(past: tuple[list[Happening], list[Happening]], those: Sequence[Document], against: Against) -> Report:
    happened, told = past
    archive = shelved(history(), {POLICIES: happened, INCIDENTS: told})
    question = Asked(archive, "an archive", heads(those, Revisions.of(happened)), against)
    return backtest(question, read_past(question))


def reworded(document: Document) -> Document:
    return {**document, "why": "Somebody wrote it anew."}


def with_an_example(document: Document) -> Document:
    return {**document, "examples": [*document.get("examples", ()), EXAMPLE][-20:]}


def without_its_sources(document: Document) -> Document:
    return {name: value for name, value in document.items() if name != "cites"}


@cache
def lived_under_shipped() -> tuple[list[Happening], list[Happening]]:
    return lived(heads(shipped()))


@pytest.mark.parametrize(
    ("edit", "against"), [(reworded, "current"), (with_an_example, "archive"), (without_its_sources, "archive")]
)
def test_of_whatever_shipped_policy_other_words_do_the_same(
    edit: Callable[[Document], Document], against: Against
) -> None:
    report = asked(lived_under_shipped(), [edit(each) for each in shipped()], against)
    assert {each.difference for each in report.matters} == {Difference.SAME}
    assert (report.new_acts, report.after.assumed) == (0, 0)
    assert report.after.cost == report.before.cost
    assert report.after.cost.gpu_hours > 0
    assert {act for each in report.matters for act in (each.after.acts if each.after else ())} == {
        act for each in report.matters for act in (each.before.acts if each.before else ())
    }


def under(those: Sequence[Document], told: Sequence[Happening], scale: float = 1.0) -> list[Incident]:
    """Return the incidents that act under *those* where *told* is what happened."""
    question = Question(candidate=heads(those), recorded=Recorded.of(told), time_scale=scale)
    return sorted((each for each in incidents(history(), question) if each.done), key=lambda each: each.opened_at)


def took(incident: Incident) -> list[tuple[Rung, float]]:
    """Return how long each rung took."""
    stages = {"settled", *STAGE_OF.values(), "done"}
    moments = [each.at for each in incident.timeline if each.stage in stages]
    lasted = [(end - begin).total_seconds() for begin, end in pairwise(moments)]
    return list(zip(incident.done, lasted, strict=True))


@pytest.mark.parametrize("why", ["One.", "Two.", "Three.", "Four.", "Five."])
def test_whichever_of_two_policies_opens_what_both_find_in_one_message_it_goes_as_it_went(why: str) -> None:
    replaces, _resets = documents()
    both = [replaces, {**replaces, "name": "also-gone", "do": ["isolate", "reset_gpu"], "priority": -1}]
    _happened, told = lived(heads(both))
    before, after = (under(those, told) for those in (both, [{**each, "why": why} for each in both]))
    assert [(each.generation, took(each)) for each in after] == [(each.generation, took(each)) for each in before]
    assert {seconds for each in after for _rung, seconds in took(each)} == {37.0}


def test_of_another_ladder_the_rungs_before_the_first_difference_go_as_they_went() -> None:
    replaces, resets = documents()
    _happened, told = lived(heads([replaces, resets]))
    (before, *_rest) = [each for each in under([replaces, resets], told) if each.policy.name == replaces["name"]]
    (after, *_rest) = under([{**replaces, "do": ["isolate", "suspend_job", "reset_gpu", "resume_job"]}], told)
    kept_rungs = before.done[: before.done.index(Rung.REPLACE_NODE)]
    assert after.done[: len(kept_rungs) + 1] == (*kept_rungs, Rung.RESET_GPU)
    assert {seconds for _rung, seconds in took(before)} == {37.0}
    assert took(after) == [
        (rung, 37.0 if rung in kept_rungs else typical_seconds(rung)) for rung in after.done
    ]  # to verify a node that was mended is another thing than to verify its successor
    assert "told" in before.facts


def test_a_longer_settle_delays_what_was_done_and_makes_it_no_shorter() -> None:
    replaces, _resets = documents()
    _happened, told = lived(heads([replaces]))
    before, after = under([replaces], told), under([{**replaces, "settle": "2m"}], told)
    assert [took(each) for each in after] == [took(each) for each in before]
    assert [each.settle_until - each.opened_at for each in after] == [timedelta(minutes=2)] * len(before)


def approved() -> tuple[Document, Incident, list[Happening]]:
    """Return a policy that asks first, what it asked, and that a person said yes two minutes later."""
    asking = {**documents()[0], "approval": True}
    waiting = incidents(history(), Question(candidate=heads([asking])))[0]
    yes = waiting.opened_at + timedelta(minutes=2)
    entry = {"number": 99, "version": 9, "stage": "approved", "at": format_time(yes), "detail": "by ann: go on"}
    document = waiting.model_dump(mode="json")
    document |= {"timeline": [*document["timeline"], entry], "version": 99}
    return asking, waiting, [Happening(yes, "incident", "it", document)]


def test_what_a_person_answered_is_answered_under_other_words_too() -> None:
    asking, waiting, told = approved()
    (found,) = under([reworded(asking)], told)
    assert found.id != waiting.id
    assert (found.approved_by, found.generation) == ("ann", waiting.generation)


def test_a_replay_that_is_resumed_still_knows_who_was_answered(tmp_path: Path) -> None:
    asking, _waiting, told = approved()
    question = Question(candidate=heads([reworded(asking)]), recorded=Recorded.of(told))
    first, resumed = Replay(question), Replay(question)
    first.run(history()[:1])
    checkpoint.save(first, tmp_path, "a question")
    checkpoint.load(resumed, tmp_path, "a question")
    (found,) = resumed.finish()
    assert [found] == list(first.finish())
    assert found.approved_by == "ann"


def test_a_rung_that_nobody_saw_lasts_as_time_goes_in_the_archive() -> None:
    usual, fast = under(documents(), []), under(documents(), [], scale=0.05)
    assert usual
    for slow, quick in zip(usual, fast, strict=True):
        assert dict(took(quick)) == pytest.approx({rung: seconds * 0.05 for rung, seconds in took(slow)}, abs=1e-5)
