"""The report as plain text: for a mail, and for whoever reads it in a terminal. It must not compute anything."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from policies.shadow.cases import NEEDLESS, Case, Ending
from policies.shadow.report import ASSUMPTIONS, Advice, PolicyReport, Report
from policies.wording import first_few

MOST_POLICIES, MOST_CASES = 20, 5
MOST_NAMED = 3  # in a summary
_ENDINGS = {
    Ending.FAULTY: "were faulty, by a person's word",
    Ending.HEALTHY: "were healthy, by a person's word",
    Ending.AWS: "AWS said the same of the instance",
    Ending.ANSWERED: "were dealt with by another policy",
    Ending.SOUND: "were dealt with by another policy, on hardware that was sound",
    Ending.DENIED: "were denied by a person, which says nothing of the hardware",
    Ending.AGAIN: "came again within a day",
    Ending.CLOSED: "were closed by a person who did not say how the hardware was",
    Ending.OPEN: "are not a day old yet",
    Ending.SILENT: "went on as nobody knows",
    Ending.AWAY: "went away by themselves",
}
NONE_IN_SHADOW = (
    "No policy that would touch a node or a run is in shadow, so there is nothing to tell: what is active has acted"
    " (`relight incident list --closed`), what is off decides nothing. The demo has all of its policies active."
)
_HEADS = {
    Advice.ARM: "Arm these first: what they would have acted on was real",
    Advice.WAIT: "Not known yet: say what it was with `relight incident verdict`, or wait",
    Advice.MEND: "Mend these before they are armed: they would have acted for nothing",
}


def as_text(report: Report) -> str:
    """Return the report, at most some pages long."""
    return "\n".join(_lines(report)) + "\n"


def summary(report: Report) -> str:
    """Return the report in a few sentences on one line."""
    would = _count(len(report.policies), "policy", "policies")
    cases = _count(sum(len(one.cases) for one in report.policies), "case", "cases")
    told = f"{_day(report.since)} to {_day(report.until)} UTC: {would} in shadow would have acted, in {cases}."
    arm = _named("Arm first", [one for one in report.policies if one.advice is Advice.ARM])
    mend = _named("Would have acted for nothing", [one for one in report.policies if one.advice is Advice.MEND])
    return " ".join(filter(None, (told, arm, mend, "All of it: relight policy report")))


def _named(head: str, policies: Sequence[PolicyReport]) -> str:
    if not policies:
        return ""
    told = [
        f"{one.plan.name} ({one.real} of {one.real + one.needless} real"
        + (f", {one.gpu_hours:.1f} GPU-hours sooner)" if one.gpu_hours else ")")
        for one in policies
    ]
    return f"{head}: {first_few(told, MOST_NAMED)}."


def why(one: PolicyReport) -> str:
    """Return why the advice on a policy is what it is, in one line."""
    told = ", ".join(f"{number} {_ENDINGS[ending]}" for ending, number in _counted(one))
    known = f"{one.real} of {one.real + one.needless} known cases were real" if one.right is not None else "none known"
    return f"{known}: {told}"


def _lines(report: Report) -> Iterator[str]:
    yield f"What policies in shadow would have done, {_day(report.since)} to {_day(report.until)} (UTC)"
    yield ""
    would = len(report.policies)
    if not (report.policies or report.quiet):
        yield NONE_IN_SHADOW
    yield (
        f"{_count(would, 'policy', 'policies')} in shadow would have acted, in"
        f" {_count(sum(len(one.cases) for one in report.policies), 'case', 'cases')}."
        f" {len(report.quiet)} more had no reason to, {report.tell_only} touch nothing."
    )
    yield f"Meanwhile {_count(report.incidents, 'incident', 'incidents')}, {report.acted} of them acted on."
    for advice in Advice:
        mine = [one for one in report.policies if one.advice is advice]
        if mine:
            yield from ("", _HEADS[advice])
            for one in mine[:MOST_POLICIES]:
                yield from _policy(one)
            if len(mine) > MOST_POLICIES:
                yield f"  and {len(mine) - MOST_POLICIES} more"
    yield from ("", "What this rests on:", *(f"- {each}" for each in ASSUMPTIONS))


def _policy(one: PolicyReport) -> Iterator[str]:
    saved = f"; {one.gpu_hours:.1f} GPU-hours sooner" if one.gpu_hours else ""
    yield f"  {one.plan.name}: {' → '.join(one.plan.do)}{saved}"
    yield f"    {why(one)}"
    for case in one.cases[:MOST_CASES]:
        yield f"    {_case(case)}"
    if len(one.cases) > MOST_CASES:
        yield f"    and {len(one.cases) - MOST_CASES} cases more"
    if one.advice is Advice.ARM:
        yield f"    relight policy set-mode {one.plan.name} active"
    elif one.advice is Advice.MEND:
        needless = next(case for case in one.cases if case.ending in NEEDLESS)
        yield f"    relight policy record {needless.incident[:12]} --policy {one.plan.name} --findings 0"


def _case(case: Case) -> str:
    run = f", run {case.job}" if case.job else ""
    about = case.node if case.node == case.instance else f"{case.node} ({case.instance})"
    beside = f": {case.beside[0].told}, {_later(case)}" if case.beside else ""
    often = f", {case.times} times until {case.last:%m-%d %H:%M}" if case.times > 1 else ""
    return f"{case.first:%m-%d %H:%M} {about}{run}, {', '.join(case.kinds)}{often}; {case.ending.value}{beside}"


def _later(case: Case) -> str:
    seconds = (case.beside[0].at - case.at).total_seconds()
    return f"{abs(seconds) / 60:.0f} min {'later' if seconds >= 0 else 'sooner'}"


def _counted(one: PolicyReport) -> list[tuple[Ending, int]]:
    return [(ending, one.endings[ending]) for ending in Ending if one.endings.get(ending)]


def _count(number: int, single: str, several: str) -> str:
    return f"{number} {single if number == 1 else several}"


def _day(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
