import json
from collections.abc import Callable

import pytest

from agent.host.notices.metadata import SCHEDULED, SPOT
from agent.host.notices.poll import NoticePoll
from agent.polls.reading import Holds, NotHereError
from policies.contract.errors import DependencyError
from tests.tools.polling import bench, measure

EVENT = {
    "NotBefore": "21 Jan 2019 09:00:43 GMT",
    "Code": "system-reboot",
    "Description": "scheduled reboot",
    "EventId": "instance-event-0d59937288b749b32",
    "NotAfter": "21 Jan 2019 09:17:23 GMT",
    "State": "active",
}


def service(**texts: str) -> Callable[[str], str | None]:
    """Answer by the last part of the path."""
    return lambda path: texts.get(path.rpartition("/")[2].replace("-", "_"))


def spot(**texts: str) -> NoticePoll:
    return NoticePoll(service(**{"instance_life_cycle": "spot", **texts}), SPOT, only="spot")


def scheduled(*events: dict[str, str]) -> NoticePoll:
    return NoticePoll(service(scheduled=json.dumps(events)), SCHEDULED)


def only(poll: NoticePoll) -> Holds:
    (reading,) = measure(poll)
    assert isinstance(reading, Holds)
    return reading


def test_an_interruption_is_told_with_what_and_when() -> None:
    one = only(spot(instance_action='{"action": "terminate", "time": "2017-09-18T08:22:00Z"}')).sighting
    assert (one.kind, one.severity, one.persistence) == ("instance.spot_interruption", "critical", "permanent")
    assert one.attributes == {"action": "terminate", "starts_at": "2017-09-18T08:22:00.000000Z"}


def test_hibernation_begins_at_once_and_need_not_say_when() -> None:
    assert only(spot(instance_action='{"action": "hibernate"}')).sighting.attributes == {"action": "hibernate"}


def test_a_recommendation_is_no_certainty() -> None:
    one = only(spot(rebalance='{"noticeTime": "2020-10-27T08:22:00Z"}')).sighting
    assert (one.kind, one.severity, one.persistence) == ("instance.rebalance_recommended", "warning", "transient")
    assert one.attributes == {"noticed_at": "2020-10-27T08:22:00.000000Z"}


def test_maintenance_is_told_with_its_times() -> None:
    one = only(scheduled(EVENT)).sighting
    assert (one.kind, one.severity) == ("instance.maintenance_scheduled", "warning")
    assert one.attributes == {
        "code": "system-reboot",
        "event": "instance-event-0d59937288b749b32",
        "starts_at": "2019-01-21T09:00:43.000000Z",
        "ends_at": "2019-01-21T09:17:23.000000Z",
    }


@pytest.mark.parametrize("code", ["instance-retirement", "instance-stop"])
def test_a_host_that_is_given_up_is_a_retirement(code: str) -> None:
    one = only(scheduled({**EVENT, "Code": code})).sighting
    assert (one.kind, one.severity) == ("instance.retirement_scheduled", "error")


def test_what_is_over_or_cancelled_is_no_notice() -> None:
    assert measure(scheduled({**EVENT, "State": "completed"}, {**EVENT, "State": "canceled"})) == []


def test_two_events_of_one_kind_are_two() -> None:
    with bench() as work:
        told = work.poll(scheduled(EVENT, {**EVENT, "EventId": "instance-event-1"}), 0)
        assert [event["kind"] for event in told] == ["instance.maintenance_scheduled"] * 2


def test_no_notice_is_nothing_and_a_notice_that_goes_is_over() -> None:
    texts: dict[str, str] = {"rebalance": '{"noticeTime": "2020-10-27T08:22:00Z"}', "instance_life_cycle": "spot"}
    poll = NoticePoll(lambda path: texts.get(path.rpartition("/")[2].replace("-", "_")), SPOT, only="spot")
    with bench() as work:
        assert [event["kind"] for event in work.poll(poll, 0)] == ["instance.rebalance_recommended"]
        texts.pop("rebalance")
        assert work.poll(poll, 5) == []
        assert [event["kind"] for event in work.poll(poll, 40)] == ["condition.cleared"]


@pytest.mark.parametrize("life_cycle", ["on-demand", "capacity-block"])
def test_an_instance_that_is_no_spot_instance_is_not_asked_again_and_again(life_cycle: str) -> None:
    with pytest.raises(NotHereError, match=life_cycle):
        measure(spot(instance_life_cycle=life_cycle))


def test_a_machine_without_metadata_has_none_and_a_service_that_falls_silent_fails() -> None:
    silent = [True]

    def find(path: str) -> str | None:
        if silent[0]:
            raise DependencyError("nobody answers")
        return None

    poll = NoticePoll(find, SCHEDULED)
    with pytest.raises(NotHereError, match="nobody answers"):
        measure(poll)
    silent[0] = False
    assert measure(poll) == []
    silent[0] = True
    with pytest.raises(DependencyError):
        measure(poll)


def test_an_event_that_is_not_understood_hides_no_other_and_is_told_as_far_as_it_is() -> None:
    odd = [3, None, {"NotBefore": "soon", "EventId": 7}, {**EVENT, "NotAfter": "32 Foo"}]
    found = measure(NoticePoll(service(scheduled=json.dumps(odd)), SCHEDULED))
    told = [one.sighting.attributes for one in found if isinstance(one, Holds)]
    assert [(one["code"], one["event"]) for one in told] == [("unknown", "7"), (EVENT["Code"], EVENT["EventId"])]
    assert ["starts_at" in one for one in told] == [False, True]
