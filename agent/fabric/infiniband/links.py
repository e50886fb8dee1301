"""Whether a port's link is as it should be: up, steady, as fast as before and as the others of its kind.

Decides what should be up: what was up in this boot, or what the operator expects. A port that never was up has no
cable; one that is disabled was switched off by somebody. It must not know where states come from.
"""

from collections import Counter
from collections.abc import Sequence

from agent.fabric.infiniband.ports import DOWN, Port
from agent.fabric.rises import note_rise
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Instant, Memory, NotMeasured, Reading, increase
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import Kind, Severity

DOWN_SECONDS = 10.0  # a second look: a reset of the adapter by its driver takes less
INACTIVE_SECONDS = 60.0  # the link is up and waits for its subnet manager, which may be restarting
FLAPS, FLAP_SECONDS = 3, 3600.0  # ours: vendors count flaps over hours (UFM shows link_downed, sets no rate)
MOST = 3  # so many alike are needed to say how fast their kind is
_LINK_KINDS = frozenset({Kind.NETWORK_LINK_DOWN, Kind.NETWORK_LINK_FLAPPING, Kind.NETWORK_LINK_DEGRADED})
_ALL_KINDS = _LINK_KINDS | {Kind.NETWORK_PORT_ERRORS}


def judge_links(ports: Sequence[Port], memory: Memory, now: Instant, expected: int = 0) -> list[Reading]:
    """Return what is wrong with the links of *ports*; *expected* is how many must be up (0: those that were)."""
    known: dict[str, dict[str, object]] = memory.setdefault("ports", {})
    here = {port.key for port in ports}
    readings: list[Reading] = [
        NotMeasured(_ALL_KINDS, Component.model_validate(past["component"]))
        for key, past in known.items()
        if key not in here
    ]
    usual = _usual_rates(ports)
    short = expected > sum(port.is_active for port in ports)
    for port in ports:
        past = known.setdefault(port.key, {"component": port.component.model_dump(mode="json", exclude_none=True)})
        readings += _judge(port, past, memory, now, usual=usual.get(_kind(port)), wanted=short)
    if expected > len(ports):
        readings.append(_too_few(expected, len(ports)))
    return readings


def _judge(
    port: Port, past: dict[str, object], memory: Memory, now: Instant, *, usual: float | None, wanted: bool
) -> list[Reading]:
    if port.state is None or port.is_disabled or not port.state.code:
        past["active"] = False  # what an operator does to it is no flap
        return [NotMeasured(_LINK_KINDS, port.component)]
    readings = [_flapping(port, past, memory, now)]
    if port.is_active:
        past["up"] = True
        readings.append(_slow(port, past, usual))
    elif past.get("up") or wanted:
        readings.append(_down(port, was_up=bool(past.get("up"))))
    past["active"] = port.is_active
    return [reading for reading in readings if reading is not None]


def _down(port: Port, *, was_up: bool) -> Holds:
    state = port.state.name if port.state else ""
    attributes = _about(port) | {"state": state, "physical": port.physical.name if port.physical else ""}
    is_down = port.state is not None and port.state.code == DOWN
    return Holds(
        Sighting(Kind.NETWORK_LINK_DOWN, Severity.ERROR, port.component, attributes),
        f"port {port.number} of {port.device.name} is {state}" + ("" if was_up else ", and never was up in this boot"),
        after=DOWN_SECONDS if is_down else INACTIVE_SECONDS,
        cleared_after=0.0,
        in_boot=was_up,
        recovery=Kind.NETWORK_LINK_UP,
    )


def _flapping(port: Port, past: dict[str, object], memory: Memory, now: Instant) -> Holds | None:
    counted = (port.counters or {}).get("link_downed")
    by = increase(memory, f"{port.key}/link_downed", counted) if isinstance(counted, int) else 0
    fell = bool(past.get("active")) and not port.is_active  # RoCE ports do not count in link_downed
    flaps = note_rise(memory, f"{port.key}/flaps", max(by, int(fell)), now, FLAP_SECONDS)
    if flaps < FLAPS:
        return None
    sighting = Sighting(
        Kind.NETWORK_LINK_FLAPPING,
        Severity.ERROR,
        port.component,
        _about(port) | {"times": flaps, "within_seconds": 3600},
    )
    return Holds(sighting, f"the link of {port.device.name} went down {flaps} times within an hour", again=3600.0)


def _slow(port: Port, past: dict[str, object], usual: float | None) -> Holds | None:
    best = past.get("gigabits")
    was = float(best) if isinstance(best, int | float) else 0.0
    rate = port.gigabits
    if rate is None:
        return None
    past["gigabits"] = max(was, rate)
    should = max(was, usual or 0.0)
    if rate >= should:
        return None
    than = "before" if was >= should else "the others"
    attributes = _about(port) | {"gigabits": rate, "expected": should, "than": than}
    sighting = Sighting(Kind.NETWORK_LINK_DEGRADED, Severity.WARNING, port.component, attributes)
    return Holds(sighting, f"{port.device.name} runs at {rate:g} of {should:g} Gb/s, less than {than}", after=30.0)


def _usual_rates(ports: Sequence[Port]) -> dict[tuple[str, str], float]:
    """Return the rate of each kind of port: what more than half of at least three that are up run at."""
    rates: dict[tuple[str, str], Counter[float]] = {}
    for port in ports:
        if port.is_active and port.gigabits is not None:
            rates.setdefault(_kind(port), Counter())[port.gigabits] += 1
    common = {kind: found.most_common(1)[0] for kind, found in rates.items() if found.total() >= MOST}
    return {kind: rate for kind, (rate, count) in common.items() if 2 * count > rates[kind].total()}


def _kind(port: Port) -> tuple[str, str]:
    return port.model, port.layer


def _too_few(expected: int, found: int) -> Holds:
    sighting = Sighting(Kind.NETWORK_LINK_DOWN, Severity.ERROR, NODE, {"expected": expected, "found": found})
    return Holds(sighting, f"{found} of {expected} expected ports are here", after=DOWN_SECONDS, in_boot=False)


def _about(port: Port) -> dict[str, Scalar]:
    return {"device": port.device.name, "port": port.number, "layer": port.layer}
