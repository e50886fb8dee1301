"""A report as Prometheus text.

Decides the names of the metrics. It must not know where a report comes from.

Source: Prometheus, "Exposition formats" (text format 0.0.4): HELP and TYPE once a metric, label values escape
backslash, quote and newline.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

CONTENT = "text/plain; version=0.0.4; charset=utf-8"
_PREFIX = "relight_agent_"
STATES = ("starting", "running", "absent", "failing", "hung")
Json = dict[str, Any]
Sample = tuple[Mapping[str, Any], float]


def metrics(report: Json) -> str:
    """Return *report* as text."""
    return "".join(f"{line}\n" for line in _lines(report))


def _lines(report: Json) -> Iterator[str]:
    yield from _metric("build_info", "The agent's version.", [({"version": report["version"]}, 1)])
    yield from _metric("healthy", "1 while the main loops go on.", [({}, int(report["healthy"]))])
    yield from _metric("uptime_seconds", "Since the agent began.", [({}, report["uptime_seconds"])])
    sources = report["sources"]
    states = [
        ({"source": one["name"], "state": state}, int(one["state"] == state)) for one in sources for state in STATES
    ]
    yield from _metric("source_state", "1 for the state that the source is in.", states)
    failures = [({"source": one["name"]}, one.get("failures", 0)) for one in sources]
    yield from _metric("source_failures_total", "How often the source failed.", failures, "counter")
    hung = [({"source": one["name"]}, one.get("hung_seconds", 0)) for one in sources]
    yield from _metric("source_hung_seconds", "How long a call of the source has not come back.", hung)
    spool = report["spool"]
    yield from _metric("spool_events_waiting", "Events that no lane has acknowledged.", [({}, spool["waiting"])])
    yield from _metric("spool_bytes_waiting", "Their bytes.", [({}, spool["bytes"])])
    yield from _metric("spool_on_disk", "1 while what is appended outlives the process.", [({}, int(spool["on_disk"]))])
    lanes = report["lanes"]
    refusing = [({"lane": one["name"]}, one["refusing_seconds"] or 0) for one in lanes]
    yield from _metric("lane_refusing_seconds", "How long the lane has been refusing.", refusing)
    put = [
        ({"lane": one["name"]}, one["last_put_seconds_ago"]) for one in lanes if one["last_put_seconds_ago"] is not None
    ]
    yield from _metric("lane_last_put_seconds", "How long ago the lane took an envelope.", put)


def _metric(name: str, what: str, values: Sequence[Sample], kind: str = "gauge") -> Iterator[str]:
    yield f"# HELP {_PREFIX}{name} {what}"
    yield f"# TYPE {_PREFIX}{name} {kind}"
    for labels, value in values:
        yield f"{_PREFIX}{name}{_labels(labels)} {value}"


def _labels(labels: Mapping[str, Any]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(str(value))}"' for name, value in labels.items()) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
