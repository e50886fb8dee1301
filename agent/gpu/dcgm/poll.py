"""DCGM's health watches, where somebody runs them: never required, and never twice what is measured here.

While NVML is read here, only the watches of what NVML does not tell are told: InfoROM, SM, MCU, PMU, driver, NVSwitch.
Where it is not, all are, but for what is known to cry wolf: warnings of power and heat (a power cap under load), IMEX
(its own source; on a single node there is none), and Xids, which the kernel's log tells with their time while DCGM
keeps the last for ever. It must not know how DCGM is asked.
"""

import re
from collections.abc import Callable, Iterator

from agent.gpu.dcgm.report import Incident, parse_report
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Instant, Memory, Reading
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_CLEARED_AFTER = 120.0
_NVML_TELLS = ("pcie", "nvlink", "memory", "thermal", "power")
_CRY_WOLF = ("thermal", "power")
_FAILURE = "Failure"
_PARTS = {
    "gpu": ComponentType.GPU,
    "switch": ComponentType.NVSWITCH,
    "nvswitch": ComponentType.NVSWITCH,
    "cpu": ComponentType.CPU,
}
_TOLD_ELSEWHERE = re.compile(r"\bXids?\b|\bIMEX\b", re.IGNORECASE)


class DcgmPoll:
    """See the module."""

    def __init__(self, report: Callable[[], str], nvml_is_read: Callable[[], bool]) -> None:
        """Take what *report* prints; *nvml_is_read* tells whether NVML is read here now."""
        self._report = report
        self._nvml_is_read = nvml_is_read

    def measure(self, memory: Memory, now: Instant) -> list[Reading]:
        """See `Poll.measure`; DcgmError, BadReportError."""
        del memory, now
        return list(judge_report(parse_report(self._report()), nvml_is_read=self._nvml_is_read()))


def judge_report(incidents: list[Incident], *, nvml_is_read: bool) -> Iterator[Holds]:
    """Return what is worth telling."""
    for incident in incidents:
        system = incident.system.removesuffix(" system").lower().replace(" ", "_")
        told_by_nvml = nvml_is_read and system in _NVML_TELLS
        cries_wolf = incident.health != _FAILURE and system in _CRY_WOLF
        if not (told_by_nvml or cries_wolf or _TOLD_ELSEWHERE.search(incident.text)):
            yield _holds(incident, system)


def _holds(incident: Incident, system: str) -> Holds:
    severity = Severity.ERROR if incident.health == _FAILURE else Severity.WARNING
    attributes: dict[str, Scalar] = {"reason": system, "health": incident.health.lower()}
    part = _PARTS.get(incident.entity.lower())
    if part is None:  # an instance of MIG has a number of its own, which is no GPU's
        attributes["device"] = f"{incident.entity} {incident.number}"
    named = Component(type=part, index=incident.number) if part else Component(type=ComponentType.GPU)
    sighting = Sighting(Kind.GPU_HEALTH_FAILED, severity, named, attributes)
    message = f"DCGM: {incident.entity} {incident.number}, {incident.system}: {incident.text or incident.health}"
    return Holds(sighting, message, cleared_after=_CLEARED_AFTER)
