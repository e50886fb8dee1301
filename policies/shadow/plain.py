"""The report as JSON for machines. It must not compute anything."""

from typing import Any

from policies.contract.times import format_time
from policies.shadow.beside import Beside
from policies.shadow.cases import Case
from policies.shadow.report import ASSUMPTIONS, PolicyReport, Report
from policies.shadow.text import why


def as_document(report: Report) -> dict[str, Any]:
    """Return *report* as JSON takes it."""
    return {
        "since": format_time(report.since),
        "until": format_time(report.until),
        "candidates": [one.plan.name for one in report.candidates],
        "policies": [_policy(one) for one in report.policies],
        "quiet": list(report.quiet),
        "tell_only": report.tell_only,
        "incidents": report.incidents,
        "acted": report.acted,
        "assumptions": list(ASSUMPTIONS),
    }


def _policy(one: PolicyReport) -> dict[str, Any]:
    return {
        "name": one.plan.name,
        "revision": one.plan.revision,
        "would": [action.value for action in one.plan.do],
        "advice": one.advice.value,
        "why": why(one),
        "real": one.real,
        "needless": one.needless,
        "endings": {ending.value: number for ending, number in sorted(one.endings.items())},
        "gpu_hours": round(one.gpu_hours, 2),
        "cases": [_case(case) for case in one.cases],
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "incident": case.incident,
        "cluster": case.cluster,
        "node": case.node,
        "instance": case.instance,
        "job": case.job or None,
        "kinds": list(case.kinds),
        "first": format_time(case.first),
        "last": format_time(case.last),
        "times": case.times,
        "would_act_at": format_time(case.at),
        "ending": case.ending.value,
        "beside": [_beside(each) for each in case.beside],
    }


def _beside(one: Beside) -> dict[str, Any]:
    return {
        "incident": one.incident,
        "policy": one.policy,
        "done": list(one.done),
        "at": format_time(one.at),
        "person": one.person or None,
        "denied": one.denied,
    }
