"""An archive that ends while an incident is open: what it does not know yet is no difference."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from simulator.backtest import Against, Asked, Report, backtest, read_past
from simulator.deeds import STILL_OPEN, Difference
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, kept, lived, shelved

Document = dict[str, Any]
POLICIES_THEN = [{**each, "settle": "40s"} for each in documents()]
MOMENTS = [NOW + timedelta(seconds=seconds) for seconds in (20, 30, 42, 60, 82, 97, 130, 170, 250, 400, 620, 1330)]
"""While the first one settles, at its rungs of 37 s, between two of them, when it has ended, and later ones."""


@cache
def past() -> tuple[list[Happening], list[Happening]]:
    return lived([head(each) for each in POLICIES_THEN])


def known_at(moment: datetime) -> list[Happening]:
    """Return what the archive knew of incidents and of acts at *moment*."""
    happened, told = past()
    replay = Replay(Question(Revisions.of(happened), Recorded.of(told)))
    replay.run(each for each in history() if each.arrived_at <= moment)
    replay.pass_to(moment)
    acts = [each for each in told if each.what == "act"]
    other = acts[0]._replace(at=NOW - timedelta(hours=2), id="another", document={**acts[0].document, "incident": "0"})
    return [*map(kept, replay.store.everyone()), *(each for each in [other, *acts] if each.at <= moment)]


def asked(
    until: datetime, those: Sequence[Document] | None, against: Against = "archive", late: timedelta = timedelta()
) -> Report:
    """Return the account of an archive of until then, whose incidents are so much *late*."""
    happened, _told = past()
    records = [each for each in history() if each.arrived_at <= until]
    archive = shelved(records, {POLICIES: happened, INCIDENTS: known_at(until - late)})
    candidate = None if those is None else [head(each, Revisions.of(happened)) for each in those]
    question = Asked(archive, "an archive", candidate, against)
    return backtest(question, read_past(question))


def reworded(document: Document) -> Document:
    return {**document, "why": "Somebody wrote it anew."}


@pytest.mark.parametrize("those", [None, [*map(reworded, POLICIES_THEN)]], ids=["as it was", "other words"])
@pytest.mark.parametrize("until", MOMENTS)
def test_whenever_it_ends_the_past_told_again_is_the_past(until: datetime, those: Sequence[Document] | None) -> None:
    report = asked(until, those)
    assert {each.difference for each in report.matters} == {Difference.SAME}
    assert report.new_acts == 0
    assert report.after.cost == report.before.cost


def test_at_most_of_these_moments_something_was_under_way() -> None:
    open_then = [any(each.result == STILL_OPEN for each in asked(until, None).after.deeds) for until in MOMENTS]
    assert sum(open_then) >= len(MOMENTS) - 3


def test_both_sides_of_a_comparison_end_where_the_archive_does() -> None:
    report = asked(MOMENTS[5], [*map(reworded, POLICIES_THEN)], "current")
    assert [(each.difference, each.either.result) for each in report.matters if each.acts] == [
        (Difference.SAME, STILL_OPEN)
    ]


def test_what_differs_only_behind_the_end_is_no_difference_yet() -> None:
    replaces, resets = POLICIES_THEN
    gentler = {**replaces, "do": ["isolate", "reset_gpu", "resume_job"]}
    (matter,) = (each for each in asked(MOMENTS[5], [gentler, resets]).matters if each.acts)
    assert (matter.difference, [act.rung for act in matter.either.acts]) == (Difference.SAME, ["isolate"])


@pytest.mark.parametrize(
    "edit",
    [{"do": ["isolate", "reset_gpu", "resume_job"]}, {"deadline": "60s"}, {"approval": True}, {"mode": "shadow"}],
    ids=lambda edit: next(iter(edit)),
)
def test_what_differs_before_the_end_is_told(edit: Document) -> None:
    replaces, resets = POLICIES_THEN
    report = asked(MOMENTS[7], [{**replaces, **edit}, resets])
    (matter, *_more) = (each for each in report.matters if each.either.instance == "i-0")
    assert matter.difference is Difference.CHANGED
    assert bool(matter.new_acts) == ("do" in edit)
    assert all(act.at <= MOMENTS[7] for act in (matter.after.acts if matter.after else ()))


@pytest.mark.parametrize("seconds", [20, 42, 60, 82, 130, 300])
def test_incidents_that_come_later_into_the_archive_than_records_are_no_difference(seconds: int) -> None:
    report = asked(NOW + timedelta(seconds=seconds), None, late=timedelta(seconds=60))
    assert {each.difference for each in report.matters} <= {Difference.SAME}
    assert report.new_acts == 0
    assert bool(report.matters) or "1 incidents are left out" in " ".join(report.notes)
