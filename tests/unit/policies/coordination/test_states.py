import itertools

import pytest

from policies.coordination import happenings
from policies.coordination.happenings import (
    Approved,
    Closed,
    DeniedAgain,
    Distrusted,
    Eased,
    Joined,
    Judged,
    NotApproved,
    Opened,
    Parked,
    Recorded,
    Settled,
)
from policies.coordination.states import TABLE, IllegalTransitionError, IncidentStatus, next_status

ALL = {getattr(happenings, name) for name in dir(happenings) if isinstance(getattr(happenings, name), type)}
NEWS = {Joined, Judged, Distrusted}
HAPPENINGS = {each for each in ALL if each.__module__ == happenings.__name__ and hasattr(each, "line")}


def test_every_status_has_its_row_and_every_happening_its_place() -> None:
    assert set(TABLE) == {None, *IncidentStatus}
    assert {happening for row in TABLE.values() for happening in row} == HAPPENINGS


def test_every_status_is_reached_and_every_one_but_the_last_can_be_left_for_it() -> None:
    assert {status for row in TABLE.values() for status in row.values()} == set(IncidentStatus)
    for status in set(IncidentStatus) - {IncidentStatus.CLOSED}:
        assert TABLE[status][Closed] is IncidentStatus.CLOSED


def test_nothing_leads_out_of_closed() -> None:
    assert set(TABLE[IncidentStatus.CLOSED].values()) == {IncidentStatus.CLOSED}


def test_parked_and_closed_take_no_step_by_themselves() -> None:
    assert set(TABLE[IncidentStatus.PARKED]) == {*NEWS, Eased, Approved, NotApproved, Closed}
    assert set(TABLE[IncidentStatus.CLOSED]) == {*NEWS, DeniedAgain}


def test_a_running_incident_can_always_be_parked() -> None:
    for status in IncidentStatus:
        assert (Parked in TABLE[status]) == status.is_running


def test_an_incident_begins_open_or_recorded() -> None:
    assert next_status(None, Opened()) is IncidentStatus.SETTLING
    assert next_status(None, Recorded("shadow", "notify")) is IncidentStatus.CLOSED


@pytest.mark.parametrize("status", [None, IncidentStatus.CLOSED, IncidentStatus.PARKED, IncidentStatus.RESUMING])
def test_what_cannot_happen_says_so(status: IncidentStatus | None) -> None:
    with pytest.raises(IllegalTransitionError, match="Settled cannot happen"):
        next_status(status, Settled())


def test_the_table_knows_only_the_pairs_that_are_written_down() -> None:
    pairs = [(status, happening) for status, row in TABLE.items() for happening in row]
    possible = list(itertools.product(TABLE, HAPPENINGS))
    assert len(pairs) == len(set(pairs)) < len(possible)
