"""People hear of a thing once: not again when its notice is forgotten, nor since a newer version is deployed."""

from datetime import timedelta

import pytest

from functions.adapters.notice_items import KEPT
from functions.guard.catching_up import TURNS, catch_up
from functions.ports.notices import Notice
from policies import examples
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from tests.tools.policy_desk import DOCUMENT, NAME, Desk

BROKEN = {**DOCUMENT, "settle": "soon"}


def a_day(desk: Desk) -> None:
    for _quarter in range(TURNS):
        desk.now += timedelta(minutes=15)
        catch_up(desk.table, desk.guard.look_at, desk.telemetry, lambda: desk.now)


def test_what_was_told_is_not_told_again_when_its_notice_is_forgotten() -> None:
    desk = Desk()
    desk.put(DOCUMENT)
    del desk.table.live_items[NAME]
    desk.look()
    desk.table.put_live({**BROKEN, "name": "bad"})
    desk.table.put_live({"name": EVERYTHING, "mode": "active"})
    a_day(desk)
    assert sorted(each.kind for each in desk.notices.told.values()) == ["deleted", "rejected", "started"]
    desk.now += KEPT
    desk.notices.told.clear()
    a_day(desk)
    assert desk.notices.told == {}


@pytest.mark.parametrize("harm", ["refused", "deleted", "switched"])
def test_a_crash_before_the_notice_is_made_good(harm: str) -> None:
    desk = Desk()
    desk.put(DOCUMENT)
    name = EVERYTHING if harm == "switched" else NAME
    if harm == "deleted":
        del desk.table.live_items[NAME]
    else:
        desk.table.put_live({**BROKEN, "name": name, "mode": "active"})
    tell = desk.notices.tell

    def refuse(notice: Notice) -> None:
        desk.notices.tell = tell  # type: ignore[method-assign]
        raise DependencyError("the table does not answer.")

    desk.notices.tell = refuse  # type: ignore[method-assign]
    with pytest.raises(DependencyError):
        desk.guard.look_at(name)
    desk.now += timedelta(hours=12)
    desk.guard.look_at(name)
    assert len(desk.notices.told) == 1


@pytest.mark.parametrize("at", ["now", "", "2999-01-01T00:00:00.000000Z", 5, None])
def test_a_verdict_whose_time_cannot_be_is_written_anew_and_told(at: object) -> None:
    desk = Desk()
    desk.put(DOCUMENT)
    desk.put(BROKEN)
    desk.notices.told.clear()
    desk.table.live_items[NAME]["verdict"] = {**desk.verdict, "at": at}
    desk.look()
    assert str(desk.verdict["at"]).startswith(f"{desk.now:%Y-%m-%d}")
    assert [each.kind for each in desk.notices.told.values()] == ["rejected"]


def test_a_version_that_would_refuse_what_is_in_force_says_so_once_and_keeps_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = {"kind": "gpu.lost", "node": "n"}
    document = {**DOCUMENT, "examples": [{"says": "x", "until": "1d", "events": [told], "findings": 0}]}
    desk = Desk()
    with monkeypatch.context() as earlier:
        earlier.setattr("policies.loader.run_examples", lambda _policy: [])
        before = desk.put(document)
    monkeypatch.setattr(examples, "MOST_ENVELOPES", 1)
    a_day(desk)
    a_day(desk)
    assert desk.table.in_force[NAME] == before
    assert (desk.verdict["status"], desk.verdict["mode"]) == ("accepted", PolicyMode.ACTIVE)
    assert "at most 1 are tried" in desk.verdict["problems"][0]["reason"]
    (notice,) = desk.notices.told.values()
    assert "revision 1 stays in force, but this version would refuse it: examples" in notice.text
    assert "PoliciesRejected" not in desk.telemetry.counts
    monkeypatch.undo()
    assert desk.put({**document, "priority": 7}).revision == 1, "an edit is judged by today's rules"
    assert desk.verdict["status"] == "rejected"
