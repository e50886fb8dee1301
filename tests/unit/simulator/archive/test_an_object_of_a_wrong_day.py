"""An object that a wrong clock, or a hand, dated far off: whoever reads the rest does not list the days between."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

import pytest

from functions.ports.archive import ArchiveObject
from functions.twins.archive import MemoryArchive
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import Told
from simulator.backtest import Asked, backtest, read_past
from simulator.nodes import COUNTED
from tests.tools.archives import BEGIN, happening, record, write, write_happenings
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, revision, shelved

FAR = [datetime(1970, 1, 1, tzinfo=UTC), datetime(2099, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, tzinfo=UTC)]


class Counting(MemoryArchive):
    """Counts the days that are listed."""

    listed = 0

    def list(self, family: str, day: date) -> Sequence[ArchiveObject]:
        """See the port."""
        self.listed += 1
        return super().list(family, day)


@pytest.mark.parametrize("far", FAR)
def test_only_days_that_hold_something_are_listed(far: datetime) -> None:
    archive = Counting()
    write(archive, [record(1), record(2)._replace(arrived_at=far)])
    write_happenings(archive, [happening(1), happening(2)._replace(at=far)])
    since, until = (min(far, BEGIN), max(far, BEGIN) + timedelta(minutes=1))
    assert len(list(read_records(archive, since, until, Told()))) == 2
    assert len(list(read_happenings(archive, INCIDENTS, since, until, Told()))) == 2
    assert archive.listed == 4


@pytest.mark.parametrize("family", [EVENTS, INCIDENTS, POLICIES])
@pytest.mark.parametrize("far", FAR)
def test_the_past_is_told_all_the_same(far: datetime, family: str) -> None:
    told = [each for one in documents() for each in revision(head(one), NOW - timedelta(hours=1))]
    archive = shelved(history(nodes=4, rounds=1), {POLICIES: told})
    if family == EVENTS:
        write(archive, [record(1)._replace(arrived_at=far)])
    else:
        write_happenings(archive, [happening(1)._replace(at=far)], family)
    asked = Asked(archive, "an archive")
    report = backtest(asked, read_past(asked))
    assert report.after.deeds
    assert report.until - report.since <= timedelta(days=2), "the period is what lies together"
    assert [note for note in report.notes if f"{far:%Y-%m-%d}" in note or family != EVENTS] == list(report.notes)
    assert bool(report.notes) == (family == EVENTS)


@pytest.mark.parametrize("far", FAR)
def test_who_names_the_period_has_what_lies_years_off_as_well(far: datetime) -> None:
    archive = shelved(history(nodes=4, rounds=1), {POLICIES: []})
    write(archive, [record(1)._replace(arrived_at=far)])
    since, until = (min(far, NOW), max(far, NOW) + timedelta(minutes=30))
    asked = Asked(archive, "an archive", [], since=since, until=until)
    without = Asked(archive, "an archive", [])
    found, left = (backtest(each, read_past(each)) for each in (asked, without))
    assert found.notes == []
    assert f"{far:%Y-%m-%d}" in "".join(left.notes)
    assert found.after.counts["records"] == left.after.counts["records"] + 1


def test_an_account_counts_what_there_was_none_of_too() -> None:
    asked = Asked(shelved(history(nodes=1, rounds=1), {POLICIES: []}), "an archive", [])
    assert set(backtest(asked, read_past(asked)).after.counts) >= set(COUNTED)
