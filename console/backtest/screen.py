"""What `relight policy backtest` prints: a table for people, JSON for machines. It must not compute the account."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from console.terminal import paragraph, terminal
from policies.contract.times import format_time
from policies.contract.vocabulary import RECORDED
from simulator.backtest import Account, Report
from simulator.costs import ASSUMPTIONS, NOT_COUNTED, Cost
from simulator.deeds import Deed, Difference, Matter
from simulator.facts import UNKNOWN

_STYLES = {Difference.NEW: "red", Difference.GONE: "blue", Difference.CHANGED: "yellow", Difference.SAME: "dim"}
_MOST_REMARKS = 10
_LEAST_HOURS, _FEW_DOLLARS = 0.001, 10
_BEHIND = " " * 9
REHEARSED = "a rung that the archive does not tell the end of takes as long as it usually does, and succeeds"


@dataclass(frozen=True)
class Shown:
    """What of the account is shown, and by which ``price`` of a GPU and an hour in USD."""

    price: float
    every: bool = False
    most_new_acts: int | None = None


def print_report(report: Report, shown: Shown) -> None:
    """Print what differs, then the sums, then what all of it rests on."""
    console = terminal(highlight=False)
    for matter in report.matters:
        if shown.every or (matter.acts and matter.difference is not Difference.SAME):
            console.print(Text("\n".join(_lines(matter, console))), style=_STYLES[matter.difference], soft_wrap=True)
    for line in _summary(report, shown):
        indent = " " * (len(line) - len(line.lstrip()))
        console.print(Text(paragraph(console, line.lstrip(), indent, f"{indent}  ")), soft_wrap=True)


def _lines(matter: Matter, console: Console) -> Iterator[str]:
    """Yield who it is about, and what was and would be done: on one line where that is the same."""
    deed = matter.either
    when, run = f"{deed.opened_at.year:04}-{deed.opened_at:%m-%d %H:%M:%S}", f", run {deed.job}" if deed.job else ""
    head = f"{when} UTC  {deed.node}{run}: {deed.policy} r{deed.revision}"
    yield paragraph(console, head, f"{matter.difference.value:<8} ", _BEHIND)
    both = (("was", matter.before), ("would be", matter.after))
    for name, one in both if matter.difference is not Difference.SAME else (("as it was", matter.after),):
        other = f"{one.policy} r{one.revision}: " if one and one.policy != deed.policy else ""
        yield paragraph(console, f"{other}{_told(one)}", f"{_BEHIND}{name:<10}", f"{_BEHIND}{'':<10}")


def _told(deed: Deed | None) -> str:
    if deed is None:
        return "no incident"
    acts = " → ".join(act.rung for act in deed.acts) or "nothing"
    return f"{acts}; {deed.result}{_why_not(deed)}"


def _why_not(deed: Deed) -> str:
    """Return why nobody acts on what is only recorded: its policy's mode, a switch, a person, the hour."""
    decided, _, why = deed.reason.partition("; ")
    return f", since {why}" if deed.outcome == RECORDED and why and decided.startswith("decided: ") else ""


def _summary(report: Report, shown: Shown) -> Iterator[str]:
    counts = report.after.counts
    yield f"{format_time(report.since)} to {format_time(report.until)}: {counts.get('records', 0)} records,"
    yield f"  {counts.get('events', 0)} events, of which {counts.get('matches', 0)} meet a rule"
    tally = Counter((each.difference, each.acts) for each in report.matters)
    for difference in Difference:
        acting, told = tally[difference, True], tally[difference, False]
        if acting or told:
            yield f"  {difference.value}: {acting} with acts, {told} that only tell"
    yield f"  new acts: {report.new_acts}{_limit(report, shown)}"
    yield f"  as it was:      {_cost(report.before.cost, shown)}"
    yield f"  as it would be: {_cost(report.after.cost, shown)}"
    yield f"  ({NOT_COUNTED})"
    yield from (f"  {line}" for line in _wrong(report))
    yield "It is assumed that"
    yield from (
        f"  {line}" for line in (*ASSUMPTIONS, *_more(report.after), f"a GPU costs {shown.price:g} USD an hour")
    )


def _limit(report: Report, shown: Shown) -> str:
    if shown.most_new_acts is None:
        return ""
    return f", more than the {shown.most_new_acts} allowed" if report.new_acts > shown.most_new_acts else ""


def _cost(cost: Cost, shown: Shown) -> str:
    parts = f"{_figure(cost.stopped)} of runs that stood still, {_figure(cost.out)} of nodes out"
    return f"{_figure(cost.gpu_hours)} GPU-hours ({parts}), {_money(cost.gpu_hours * shown.price)} USD"


def _figure(hours: float) -> str:
    """Return *hours* with as many digits as tell something: a demo's are thousandths."""
    if 0 < hours < _LEAST_HOURS:
        return f"less than {_LEAST_HOURS:g}"
    return f"{hours:,.1f}" if hours >= 1 or not hours else f"{hours:.3f}"


def _money(dollars: float) -> str:
    return f"{dollars:,.0f}" if dollars >= _FEW_DOLLARS or not dollars else f"{dollars:.2f}"


def _more(account: Account) -> Iterator[str]:
    yield f"{REHEARSED} ({account.assumed} of them)"
    yield f"what policies ask of {' and '.join(UNKNOWN)} is not known, since no archive tells it"


def _wrong(report: Report) -> Iterator[str]:
    told, counts = report.told, report.after.counts
    if told.wrong or report.unreadable:
        yield f"{told.wrong} lines and {report.unreadable} documents could not be read"
        yield from (f"  {bad}" for bad in told.bad[:_MOST_REMARKS])
    if told.repeated:
        yield f"{told.repeated} lines stood there twice and were taken once"
    for name, what in (("rejected", "records or events are none of ours"), ("lost", "events never arrived")):
        if counts.get(name):
            yield f"{counts[name]} {what}"
    unanswered = sum(times for name, times in counts.items() if name.startswith("unanswered"))
    if unanswered:
        yield f"{unanswered} times a condition could not be answered, which is no match"
    for remark, times in list(report.after.remarks.items())[:_MOST_REMARKS]:
        yield f"{remark} ({times}×)"
    yield from report.notes


def document(report: Report, shown: Shown) -> dict[str, Any]:
    """Return the whole account for machines."""
    return {
        "from": format_time(report.since),
        "to": format_time(report.until),
        "new_acts": report.new_acts,
        "differences": dict(Counter(each.difference.value for each in report.matters)),
        "before": _account(report.before, shown),
        "after": _account(report.after, shown),
        "matters": [_matter(each) for each in report.matters],
        "read": {
            "objects": report.told.objects,
            "lines": report.told.lines,
            "repeated": report.told.repeated,
            "wrong": report.told.wrong,
            "bad": [str(each) for each in report.told.bad],
            "unreadable_documents": report.unreadable,
        },
        "notes": list(report.notes),
        "not_counted": NOT_COUNTED,
        "assumptions": [*ASSUMPTIONS, *_more(report.after)],
    }


def _account(account: Account, shown: Shown) -> dict[str, Any]:
    cost = account.cost
    money = round(cost.gpu_hours * shown.price, 2)
    hours = {"stopped": round(cost.stopped, 3), "out": round(cost.out, 3), "all": round(cost.gpu_hours, 3)}
    return {
        "incidents": len(account.deeds),
        "acting": sum(bool(each.acts) for each in account.deeds),
        "gpu_hours": hours,
        "usd": money,
        "counts": dict(account.counts),
        "remarks": dict(account.remarks),
        "rungs_assumed": account.assumed,
    }


def _matter(matter: Matter) -> dict[str, Any]:
    return {
        "difference": matter.difference.value,
        "new_acts": list(matter.new_acts),
        "before": matter.before and matter.before.document(),
        "after": matter.after and matter.after.document(),
    }


def print_document(found: dict[str, Any]) -> None:
    """Print *found* on standard output."""
    print(json.dumps(found, ensure_ascii=False, indent=1))
