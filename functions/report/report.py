"""The weekly report on policies in shadow: made of what is in the tables, told once a week.

Decides which week it is of, and whether there is anything to tell. The notice's id is the week's, so that it is told
once however often this runs. It must not know who is told.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from functions.ports.coordination import SwitchReader
from functions.ports.incident_lists import IncidentLists
from functions.ports.notices import Notice, Notices
from functions.ports.policies import PolicyHeads
from functions.ports.triage import Telemetry
from functions.report.shadowed import in_shadow
from policies.contract.identifiers import stable_id
from policies.coordination.incident import Incident
from policies.precision.signs import AGAIN_WITHIN
from policies.shadow.hits import touches
from policies.shadow.report import Report, report_of
from policies.shadow.text import summary

WEEK = timedelta(days=7)
ABOUT = "policies in shadow"
MOST_INCIDENTS = 5000  # of one cluster open, and as many closed, the newest; an incident's document has some 10 KB
TOLD, TOO_MANY = "ReportsTold", "ReportsCutShort"


def tell_report(
    clusters: Sequence[str],
    *,
    incidents: IncidentLists,
    heads: PolicyHeads,
    switches: SwitchReader,
    notices: Notices,
    telemetry: Telemetry,
    now: datetime,
) -> Report | None:
    """Tell the report on the week before *now* and return it; None when nothing that would act is in shadow."""
    shadow = in_shadow(heads, switches)
    if not any(touches(plan) for plan in shadow.values()):
        return None
    since = now - WEEK
    found: list[Incident] = []
    for cluster in clusters:
        lists = (
            incidents.open(cluster, MOST_INCIDENTS),
            incidents.closed(cluster, since - AGAIN_WITHIN, MOST_INCIDENTS),
        )
        found += [incident for listed in lists for incident in listed]
        longest = max(map(len, lists))
        if longest >= MOST_INCIDENTS:
            telemetry.count(TOO_MANY)
            telemetry.warn("The report is of the newest incidents only.", cluster=cluster, incidents=longest)
    report = report_of(found, shadow, since, now)
    notices.tell(notice_of(report))
    telemetry.count(TOLD)
    return report


def notice_of(report: Report) -> Notice:
    """Return what people hear of *report*."""
    year, week, _day = report.until.isocalendar()
    return Notice(
        id=stable_id("reported", year, week),
        kind="reported",
        policy=ABOUT,
        at=report.until,
        by="relight",
        text=summary(report),
        detail={
            "candidates": [one.plan.name for one in report.candidates],
            "would_have_acted": [one.plan.name for one in report.policies],
        },
    )
