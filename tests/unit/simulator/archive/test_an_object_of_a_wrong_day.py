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
    assert backtest(asked, read_past(asked)).after.deeds
