"""Who says no twice, late, for another time or takes it back; and whoever dies while it is written."""

from policies.contract.restraints import ApproveMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import Switches
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, POLICY, ask, findings, plan
from tests.tools.refusals import ENDS, HOUR, NO_AT, denied, denied_of_one, gpu, no, opened, pages, seen


def test_a_no_is_lifted_and_the_next_finding_asks() -> None:
    table = denied()
    first = table.incident
    table.take(120, findings(seen(119)))
    table.take(180, no(first, 180, hours=0, by="lee", reason="the test is over"))
    table.take(240, findings(seen(239)))
    (asking,) = opened(table)
    table.answer(241, ask(asking.id))
    (asking,) = opened(table)
    assert "denied before by kim" in asking.reason


def test_a_no_for_no_time_ends_the_incident_alone() -> None:
    table = denied(hours=0)
    assert table.incident.reason == "by kim: a firmware test"
    table.take(120, findings(seen(119)))
    assert len(opened(table)) == 1


def test_a_yes_to_a_later_incident_ends_it() -> None:
    table = denied()
    newer = plan(approval=True, settle=0).model_copy(update={"revision": 4})
    table.take(120, findings(seen(120, newer)))
    (asking,) = opened(table)
    table.answer(121, ask(asking.id))
    table.take(122, findings(seen(122)))  # of the revision that was denied: a note
    table.take(130, ApproveMessage(cluster=CLUSTER, incident=asking.id, by="lee", reason="go on"))
    assert table.answer(131, ask(asking.id, attempt=2)).verdict == "act"
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert lease.refusals == ()


def test_of_two_words_the_later_counts_whichever_comes_first() -> None:
    for order in ((0, 1), (1, 0)):
        table = denied()
        words = (no(table.incident, 200, hours=12, by="lee"), no(table.incident, 300, hours=1, by="ann"))
        for which in order:
            table.take(400 + which, words[which])
        assert table.incident.reason.startswith("by ann")
        table.take(300 + HOUR - 5, findings(seen(300 + HOUR - 5)))
        assert opened(table) == []
        table.take(300 + HOUR + 5, findings(seen(300 + HOUR + 4)))
        assert len(opened(table)) == 1


def test_said_twice_it_holds_once_and_a_word_of_before_brings_nothing_back() -> None:
    table = denied()
    first = table.incident
    kim = no(first, NO_AT)
    assert not table.take(100, kim).incidents
    table.take(180, no(first, 180, hours=0, by="lee"))
    assert not table.take(200, kim).incidents
    assert not table.take(210, no(first, 180, hours=0, by="lee")).leases
    table.take(240, findings(seen(239)))
    assert len(opened(table)) == 1


def test_an_answer_without_a_time_as_older_commands_send_it_holds_for_the_usual_time_and_is_taken_once() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    plain = ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="kim", approved=False)
    table.take(NO_AT, plain)
    assert not table.take(7000, plain).incidents
    table.take(ENDS - 5, findings(seen(ENDS - 6)))
    assert opened(table) == []
    table.take(ENDS + 5, findings(seen(ENDS + 4)))
    assert len(opened(table)) == 1


def test_a_clock_that_goes_wrong_where_it_was_said_changes_little() -> None:
    for said in (-9 * HOUR, 9 * HOUR):
        table = DecisionTable()
        table.take(0, findings(seen(0)))
        table.answer(1, ask(table.incident.id))
        table.take(NO_AT, no(table.incident, said))
        table.take(3.9 * HOUR, findings(seen(3.9 * HOUR)))
        assert opened(table) == []
        table.take(4.1 * HOUR, findings(seen(4.1 * HOUR)))
        assert len(opened(table)) == 1


def test_whoever_dies_between_the_lease_and_the_incident_is_made_up_for() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    word = no(table.incident, NO_AT)
    for change in table.decide(NO_AT, word).leases:
        table.store.write(change)
    table.take(120, findings(seen(119)))
    assert sorted(each.status for each in table.incidents) == [IncidentStatus.CLOSED, IncidentStatus.PARKED]
    yes = ApproveMessage(cluster=CLUSTER, incident=table.incidents[0].id, by="lee")
    table.take(125, yes)
    assert table.incidents[0].status is IncidentStatus.PARKED
    table.take(130, word)
    assert (table.incidents[0].outcome, table.incidents[1].findings[0].times) == ("denied", 1)
    assert pages(table) == 1


def test_a_word_on_an_incident_that_was_not_denied_changes_nothing() -> None:
    table = DecisionTable()
    table.take(0, findings(seen(0)))
    table.answer(1, ask(table.incident.id))
    table.take(60, ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="lee"))
    decision = table.take(61, no(table.incident, 61))
    assert (decision.incidents, decision.leases) == ((), ())


def test_a_word_that_comes_while_the_next_incident_settles_calls_it_off() -> None:
    table, slow = DecisionTable(), plan(approval=True, settle=30)
    table.take(0, findings(seen(0, slow)))
    table.answer(31, ask(table.incident.id))
    first = table.incident
    table.take(NO_AT, no(first, NO_AT, hours=0))
    table.take(120, findings(seen(119, slow)))
    (settling,) = opened(table)
    table.take(130, no(first, 130, hours=4))
    assert table.answer(151, ask(settling.id)).verdict == "closed"
    assert pages(table) == 1


def test_a_finding_that_joins_what_works_on_the_node_asks_for_nothing() -> None:
    table = denied()
    acting = plan(Action.ISOLATE, name="isolates", settle=0)
    table.take(120, findings(seen(120, acting)))
    (busy,) = opened(table)
    assert table.answer(121, ask(busy.id)).rung is Rung.ISOLATE
    table.take(130, findings(seen(130)))
    (busy,) = opened(table)
    assert busy.timeline[-1].stage == "joined"
    assert pages(table) == 1


def test_the_no_to_a_run_holds_for_all_its_nodes() -> None:
    stops = plan(Action.SUSPEND_JOB, Action.RESUME_JOB, approval=True, settle=0)
    table = DecisionTable()
    table.take(0, findings(seen(0, stops, component=gpu(0))))
    table.answer(1, ask(table.incident.id))
    table.take(60, no(table.incident, 60))
    table.take(120, findings(seen(119, stops, node="i-2", component=gpu(3))))
    assert opened(table) == []
    table.take(130, findings(seen(129, stops, node="i-2", job=JOB.model_copy(update={"id": "train/other"}))))
    assert len(opened(table)) == 1


def test_a_policy_in_shadow_or_off_says_so_first() -> None:
    table = denied()
    table.switches = Switches({POLICY: PolicyMode.OFF})
    table.take(120, findings(seen(119)))
    assert "denied" not in table.incidents[-1].reason


def test_an_incident_and_a_lease_of_before_are_read_and_their_no_holds_nothing() -> None:
    table = denied()
    incident = table.incident
    old = incident.model_dump(mode="json", exclude={"denials"})
    for note in old["findings"]:
        del note["job"]
    read = Incident.model_validate(old)
    assert (read.denials, read.findings[0].job) == ((), None)
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert type(lease).model_validate(lease.model_dump(mode="json", exclude={"refusals"})).refusals == ()
    assert type(lease).model_validate(lease.model_dump(mode="json")) == lease


def test_who_says_no_time_shortens_none() -> None:
    table = denied(hours=12)
    table.take(200, no(table.incident, 200, by="lee"))
    table.take(11.9 * HOUR, findings(seen(11.9 * HOUR)))
    assert opened(table) == []
    assert "denied by lee" in table.incidents[-1].reason


def test_another_time_is_for_what_was_refused_and_for_nothing_that_came_later() -> None:
    table = denied_of_one()
    table.take(70, no(table.incident, 70, hours=12))
    table.take(130, findings(seen(130, component=gpu(1))))
    assert len(opened(table)) == 1


def test_what_was_approved_goes_on_whatever_is_said_of_the_one_before_it() -> None:
    table = denied(hours=0)
    first = table.incident
    table.take(120, findings(seen(119)))
    (asking,) = opened(table)
    table.answer(121, ask(asking.id))
    table.take(130, ApproveMessage(cluster=CLUSTER, incident=asking.id, by="lee"))
    table.take(131, no(first, 131, hours=4))
    assert table.answer(132, ask(asking.id, attempt=2)).verdict == "act"


def test_an_incident_that_settles_for_more_than_what_is_refused_goes_on_to_ask() -> None:
    table, slow = DecisionTable(), plan(approval=True, settle=30)
    table.take(0, findings(seen(0, slow, component=gpu(0))))
    table.answer(31, ask(table.incident.id))
    first = table.incident
    table.take(60, no(first, 60, hours=0))
    table.take(120, findings(seen(119, slow, component=gpu(0)), seen(119, slow, component=gpu(1))))
    (settling,) = opened(table)
    table.take(125, no(first, 125, hours=4))
    assert table.answer(151, ask(settling.id)).verdict == "parked"


def test_a_word_without_a_time_on_what_is_closed_says_nothing() -> None:
    table = denied()
    word = ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="lee", reason="no", approved=False)
    decision = table.take(7000, word)
    assert (decision.incidents, decision.leases) == ((), ())
