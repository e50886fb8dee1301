"""A report as lines for people: what is not well first in each list. It must not know where a report comes from."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
_MARKS = {"running": "ok  ", "absent": "-   ", "starting": "..  ", "failing": "FAIL", "hung": "HUNG"}
_ORDER = ("hung", "failing", "starting", "running", "absent")
_KNOWN = frozenset({"version", "node", "uptime_seconds", "healthy", "stalled", "sources", "spool", "lanes"})


def lines(report: Json) -> Iterator[str]:
    """Yield what to print of *report*."""
    node = report["node"]
    kind = node["instance_type"] or "type unknown"
    driver = f", driver {node['driver_version']}" if node.get("driver_version") else ""
    yield f"{node['name']} ({node['instance_id']}, {kind}{driver}), cluster {node['cluster']}"
    yield f"agent {report['version'] or '(a bare folder)'}, up {span(report['uptime_seconds'])}"
    for name in report["stalled"]:
        yield f"FAIL  {name} stands still: restart the agent"
    spool = report["spool"]
    where = "on disk" if spool["on_disk"] else "in memory only: see why its folder cannot be written"
    yield f"spool: {spool['waiting']} events wait ({spool['bytes']} bytes), {where}"
    yield from (_lane(lane) for lane in report["lanes"])
    yield "sources:"
    for source in sorted(report["sources"], key=lambda one: (_ORDER.index(one["state"]), one["name"])):
        yield _source(source)
    for name in sorted(report.keys() - _KNOWN):
        yield f"{name}: {_words(report[name])}"


def span(seconds: float) -> str:
    """Return so many seconds in words of a length that is read at a glance."""
    for size, word in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {word}"
    return f"{seconds:.0f} s"


def _lane(lane: Json) -> str:
    last = lane["last_put_seconds_ago"]
    put = "nothing put yet" if last is None else f"last put {span(last)} ago"
    if lane["refusing_seconds"] is None:
        return f"{lane['name']}: {put}"
    return (
        f"{lane['name']}: REFUSES for {span(lane['refusing_seconds'])}, {lane['tries']} tries, {put}: {lane['error']}"
    )


def _source(source: Json) -> str:
    told = [f"  {_MARKS[source['state']]}  {source['name']:<24}"]
    if source["state"] == "hung":
        told.append(f"a call does not come back for {span(source['hung_seconds'])}")
    if "note" in source:
        told.append(source["note"])
    if source.get("failures"):
        told.append(f"({source['failures']} failures)")
    return " ".join(told).rstrip()


def _words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(one)}" for name, one in value.items() if one not in (None, "", []))
    if isinstance(value, list):
        return "; ".join(_words(one) for one in value)
    return str(value)
