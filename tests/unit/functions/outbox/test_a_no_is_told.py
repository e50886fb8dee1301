"""What people read on the bus of a person's no: when it is said, while it holds, when it is over."""

from functions.outbox.changes import Change
from functions.outbox.telling import tell
from policies.coordination.incident import Incident, latest_lines
from tests.tools.incidents import ask, findings
from tests.tools.refusals import ENDS, denied, no, seen


def told(incident: Incident) -> tuple[str, str, str]:
    """Return type, alert and text of the last change of *incident*."""
    entries = latest_lines(incident)
    said = tell(Change(incident, entries, first=len(entries) == len(incident.timeline)))
    return said.type, said.detail["alert"], said.detail["text"]


def test_who_said_no_until_when_and_why_stands_in_each_alert_and_only_the_question_pages() -> None:
    table = denied()
    kind, alert, text = told(table.incident)
    assert (kind, alert) == ("Incident Closed", "notify")
    assert "denied: by kim: a firmware test; nobody is asked again until 2026-03-01 14:01:30 UTC" in text
    table.take(120, findings(seen(120)))
    kind, alert, text = told(table.incidents[1])
    assert (kind, alert) == ("Incident Recorded", "notify")
    assert "denied by kim at 2026-03-01 10:01:30 UTC until 2026-03-01 14:01:30 UTC: a firmware test" in text
    table.take(ENDS, findings(seen(ENDS)))
    table.answer(ENDS + 1, ask(table.incidents[2].id))
    kind, alert, text = told(table.incidents[2])
    assert (kind, alert) == ("Incident Parked", "page")
    assert "it was denied before by kim at 2026-03-01 10:01:30 UTC: a firmware test" in text


def test_another_time_for_it_is_told_once() -> None:
    table = denied()
    table.take(200, no(table.incident, 200, hours=0, by="lee", reason="it is over"))
    kind, alert, text = told(table.incident)
    assert (kind, alert) == ("Incident Not Approved", "notify")
    assert "by lee: it is over; whoever asks next is heard again" in text
