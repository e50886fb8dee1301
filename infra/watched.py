"""Which figures of our own functions wake a person, at what height, and what that person is told.

Decides thresholds and words. It must not know how an alarm is built (`alarms.py`). What stays below says so here:
figures that no alarm looks at are on the dashboard or in the runbook's table only.
"""

from dataclasses import dataclass

from infra import metrics
from infra.metrics import Named

_SINGLE = 1
_LASTING = 3
_LOOKS = 4  # of the guard by the clock, each quarter of an hour: what is left once follows with the next


@dataclass(frozen=True)
class Watched:
    """Alarm ``name`` when ``figure`` is above ``above`` in each of ``periods`` periods of ``minutes`` minutes."""

    name: str
    figure: Named
    text: str
    above: float = 0
    periods: int = _SINGLE
    minutes: int = 1
    statistic: str = "Sum"


# What was put aside or lost: nobody acts on it until a person looks.
_LOST = (
    Watched(
        "RecordsRejected",
        metrics.REJECTED_RECORDS,
        "Records could not be used and lie in the rejects store with the reason: relight dlq list.",
    ),
    Watched(
        "EventsLost",
        metrics.LOST_EVENTS,
        "Events of a node never arrived: its spool was full or lost. Triage's log names node and numbers.",
    ),
    Watched(
        "StatesUnreadable",
        ("triage", "StatesUnreadable"),
        "What triage had counted of a node could not be read and began anew; repeats before it do not count any more.",
    ),
    Watched(
        "NodesNotCommitted",
        ("triage", "NodesNotCommitted"),
        "States of nodes could not be written for three minutes; their records come again. See triage's log.",
        periods=_LASTING,
    ),
    Watched(
        "SeenNotWritten",
        ("triage", "SeenNotWritten"),
        "Signs of life could not be written for three minutes: new nodes may fail verification. See triage's log.",
        periods=_LASTING,
    ),
    Watched(
        "OverflowNotArchived",
        ("triage", "OverflowNotArchived"),
        "What came by overflow was judged but not archived for three minutes; it comes again. See triage's log.",
        periods=_LASTING,
    ),
    Watched(
        "ChangesNotArchived",
        ("archive", "ChangesNotArchived"),
        "A change of an incident or a policy broke the archive's code and is not in the archive. See its log.",
    ),
    Watched(
        "EventsUnknown",
        ("intake", "EventsUnknown"),
        "An event of AWS came in a form that intake does not know and was let go. See intake's log.",
    ),
)

# Somebody believes that a rule applies, and it does not. An edit that is refused reaches the topic by the bus, with its
# reasons.
_RULES = (
    Watched(
        "PoliciesNotJudged",
        ("guard", "PoliciesNotJudged"),
        "An edited policy broke the guard: nobody answers it, the last accepted revision stays. See guard's log.",
    ),
    Watched(
        "PoliciesNotLookedAt",
        ("guard", "PoliciesNotLookedAt"),
        "For an hour the guard's look by the clock had no time for all policies: what its stream lost may wait on.",
        periods=_LOOKS,
        minutes=15,
    ),
    Watched(
        "PoliciesUnreadable",
        ("triage", "PoliciesUnreadable"),
        "Triage cannot read an accepted policy, or what lists it. It may not be applied: see triage's log.",
    ),
    Watched(
        "ConditionsUnanswered",
        ("triage", "ConditionsUnanswered"),
        "A policy asked an event for a field that it does not have, which is no match. Triage's log names both.",
    ),
)

# Incidents that do not go their way, and people who do not hear of it.
_INCIDENTS = (
    Watched(
        "IncidentsParked",
        ("coordinate", "IncidentsParked"),
        "Relight has stopped at an incident and asks a person; it keeps the node until it is closed.",
    ),
    Watched(
        "IncidentOverdue",
        metrics.LONGEST_OVERDUE,
        "An incident is five minutes past its deadline and still runs: the sweep does not get to park it.",
        above=300,
        periods=_LASTING,
        statistic="Maximum",
    ),
    # One run that broke shows as ExecutionsFailed, and a long history is handed on as a matter of course: this is many.
    Watched(
        "ExecutionsRestarted",
        ("coordinate", "ExecutionsRestarted"),
        "More than three runs of incidents were started anew within a quarter of an hour. See ExecutionsFailed.",
        above=3,
        minutes=15,
    ),
    # A bad message is refused at once (MessagesRefused): it lies in decisions-dlq, whose depth has an alarm of its own.
    Watched(
        "MessagesFailed",
        ("coordinate", "MessagesFailed"),
        "Coordinate has been giving messages back for three minutes: findings and asks wait. See its log.",
        periods=_LASTING,
    ),
    Watched(
        "ChangesRefused",
        ("outbox", "ChangesRefused"),
        "The bus has been refusing announcements for three minutes: people hear nothing of incidents.",
        periods=_LASTING,
    ),
    Watched(
        "ChangesUnreadable",
        ("outbox", "ChangesUnreadable"),
        "An incident's item cannot be read by this version of the outbox: deploy again.",
    ),
)

WATCHED = (*_LOST, *_RULES, *_INCIDENTS)
