"""A period that begins in the middle of things is told as it was: what stood before it counts, and is no news."""

from datetime import datetime, timedelta
from typing import Literal

import pytest

from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from simulator.backtest import Asked, backtest, read_past
from simulator.deeds import Difference
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, revision, shelved

TOLD = [told for each in documents() for told in revision(head(each), NOW - timedelta(hours=1))]
PAST = incidents(history(), Question(Revisions.of(TOLD)))
RECORDED = [
    Happening(each.updated_at, "incident", f"{each.id}:{each.version:08d}", each.model_dump(mode="json"))
    for each in PAST
]


@pytest.mark.parametrize("against", ["archive", "current"])
@pytest.mark.parametrize("since", [NOW + timedelta(minutes=10 * number) for number in range(1, 12)])
def test_a_period_tells_what_began_in_it_as_it_was(since: datetime, against: Literal["archive", "current"]) -> None:
    archive = shelved(history(), {POLICIES: TOLD, INCIDENTS: RECORDED})
    asked = Asked(archive, "an archive", since=since, against=against)
    report = backtest(asked, read_past(asked))
    assert {each.incident for each in report.after.deeds} == {each.id for each in PAST if each.opened_at >= since}
    assert all(each.difference is Difference.SAME for each in report.matters)
    assert report.new_acts == 0
