"""Errors of the machine's memory, told where the kernel's log does not tell them.

An error that EDAC counts is printed as well, and the log's line (`agent.parsers.memory`) says more. So the counters are
kept up at each poll, and speak only for what the log cannot have told: it is not readable, EDAC's printing is off, or
uncorrected errors were there at first sight and the log begins after them. What was corrected before the agent first
looked is old news. It must not know how either is read.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.host.edac.controllers import Controller, Module
from agent.host.edac.log import Told
from agent.kernel_files import Number
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Instant, Memory, NotHereError, Reading, increase
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_NOTHING = (
    "the kernel counts no memory errors: no EDAC driver is bound. An instance that is no bare metal has none; on metal "
    "load skx_edac, i10nm_edac or amd64_edac"
)
_SEVERITY = {Kind.HOST_MEMORY_CORRECTED: Severity.WARNING, Kind.HOST_MEMORY_UNCORRECTED: Severity.CRITICAL}


@dataclass(frozen=True, slots=True)
class EdacPoll:
    """Looks at the counters again and again; *told* says what the kernel's log tells."""

    read: Callable[[], list[Controller]]
    told: Callable[[], Told]

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`. OSError when no controller lets its counters be read."""
        del now
        controllers = self.read()
        if not controllers:
            raise NotHereError(_NOTHING)
        if not any(isinstance(one.corrected, int) and isinstance(one.uncorrected, int) for one in controllers):
            raise PermissionError(f"the counters of memory errors cannot be read: {controllers[0].corrected}")
        return judge(controllers, memory, self.told())


def judge(controllers: Sequence[Controller], memory: Memory, told: Told) -> list[Reading]:
    """Return what the counters say that the log does not; *memory* holds what they were."""
    return [reading for one in controllers for kind in _SEVERITY for reading in _of_controller(one, kind, memory, told)]


def _of_controller(controller: Controller, kind: Kind, memory: Memory, told: Told) -> list[Reading]:
    uncorrected = kind is Kind.HOST_MEMORY_UNCORRECTED
    by_log, first = (told.uncorrected if uncorrected else told.corrected), False
    name = f"mc{controller.index}.{'ue' if uncorrected else 'ce'}"
    total = controller.uncorrected if uncorrected else controller.corrected
    if isinstance(total, int):
        first = name not in memory.get("counters", {})
    risen = _risen(memory, name, total, from_zero=uncorrected)
    parts = [
        (module, _risen(memory, f"{name}.{module.name}", _counted(module, kind), from_zero=uncorrected))
        for module in controller.modules
    ]
    if by_log and not (first and uncorrected and not told.since_boot):
        return []
    found: list[Reading] = [_happened(kind, controller, count, module) for module, count in parts if count]
    rest = risen - sum(count for _, count in parts)
    return [*found, _happened(kind, controller, rest)] if rest > 0 else found


def _counted(module: Module, kind: Kind) -> Number:
    return module.uncorrected if kind is Kind.HOST_MEMORY_UNCORRECTED else module.corrected


def _risen(memory: Memory, name: str, value: Number, *, from_zero: bool) -> int:
    """Return by how much a counter rose; *from_zero*: what it shows at first sight is of this boot, and counts."""
    if not isinstance(value, int):
        return 0
    if from_zero:
        memory.setdefault("counters", {}).setdefault(name, 0)
    return increase(memory, name, value)


def _happened(kind: Kind, controller: Controller, count: int, module: Module | None = None) -> Happened:
    """Return the reading in the words of the log's line, so that both are one to a policy: ``device`` is the label."""
    where = f"memory controller {controller.index}"
    attributes: dict[str, Scalar] = {"errors": count}
    if module is not None:
        attributes |= {"device": module.label or module.name, "location": module.location or module.name}
        where += f", {attributes['device']}"
    component = Component(type=ComponentType.DIMM, index=controller.index)
    word = "uncorrected" if kind is Kind.HOST_MEMORY_UNCORRECTED else "corrected"
    return Happened(Sighting(kind, _SEVERITY[kind], component, attributes), f"EDAC: {count} {word} on {where}", count)
