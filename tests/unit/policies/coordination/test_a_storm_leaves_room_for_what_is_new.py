"""A storm fills an incident's notes only so far: another fault of the node is still noted, and told to a person."""

from policies.contract.events import Component
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, ComponentType, Kind, PolicyMode
from policies.coordination.incident import MOST_ALIKE, MOST_NOTES, Incident
from policies.shadow.report import report_of
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import ask, at, finding, findings, plan

WEAK = plan(Action.ISOLATE, Action.PAGE_OPERATOR, settle=0)


def storm(table: DecisionTable, count: int = 100) -> Incident:
    """Have one fault told each second of an incident that has begun."""
    table.take(0, findings(finding(policy=WEAK)))
    table.take(1, ask(table.incident.id))
    for number in range(count):
        table.take(2 + number, findings(finding(name=f"f{number}", policy=WEAK, seen=at(number))))
    return table.incident


def test_of_what_is_alike_only_the_first_ones_are_kept() -> None:
    table = DecisionTable()
    assert len(storm(table).findings) == MOST_ALIKE < MOST_NOTES
    assert table.take(200, findings(finding(name="more", policy=WEAK, seen=at(199)))).incidents == ()


def test_what_another_policy_wants_is_told_a_person_however_long_the_storm() -> None:
    table = DecisionTable()
    storm(table)
    table.take(200, findings(finding(name="new", policy=plan(name="strong"), kind=Kind.GPU_LOST, seen=at(199))))
    line = table.incident.timeline[-1]
    assert (line.stage, line.alert) == ("joined", "page")
    assert "strong: gpu.lost; it wants" in line.detail
    assert table.incident.knows("new")


def test_a_node_that_dies_in_a_storm_is_fenced_before_it_is_given_up() -> None:
    table = DecisionTable()
    table.take(0, findings(finding()))
    storm_of = [finding(name=f"f{number}", seen=at(0)) for number in range(100)]
    table.take(1, findings(*storm_of))
    table.take(2, findings(finding(name="silent", kind=Kind.NODE_SILENT, policy=plan(name="silence"), seen=at(2))))
    assert Rung.FENCE_NODE in [each.rung for each in table.incident.rungs]


def test_another_part_and_what_a_policy_in_shadow_would_do_are_kept_as_well() -> None:
    table, shadow = DecisionTable(), plan(name="shadow", mode=PolicyMode.SHADOW)
    storm(table)
    gpu = Component(type=ComponentType.GPU, index=3)
    part = finding(name="part", policy=WEAK, seen=at(150)).model_copy(update={"component": gpu})
    table.take(200, findings(part, finding(name="would", policy=shadow, seen=at(199))))
    assert [note.id for note in table.incident.findings[MOST_ALIKE:]] == ["part", "would"]
    report_on = report_of(table.incidents, {"shadow": shadow}, at(0), at(86400))
    assert [one.plan.name for one in report_on.policies] == ["shadow"]


def test_even_of_very_many_parts_no_more_are_kept_than_an_item_holds() -> None:
    table = DecisionTable()
    storm(table)
    parts = [Component(type=ComponentType.GPU, index=number) for number in range(100)]
    found = [
        finding(name=f"p{n}", policy=WEAK, seen=at(150)).model_copy(update={"component": each})
        for n, each in enumerate(parts)
    ]
    table.take(200, findings(*found))
    assert len(table.incident.findings) == MOST_NOTES
