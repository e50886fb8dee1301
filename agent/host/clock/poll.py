"""Whether the wall clock can be believed: nobody sets it, it is off, or it jumped.

Times of logs, certificates, signatures of requests to AWS and the order of events of two nodes rest on it; training
does not. So these are warnings. It must not know how the clock is asked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agent.host.clock.kernel import Discipline, Tracking
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Happened, Holds, Instant, Memory, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

# systemd's rule (src/basic/time-util.c, ntp_synced): the kernel lets the error grow by 500 ppm and gives up at 16 s
# (NTP_PHASE_LIMIT). STA_UNSYNC says less: chronyd leaves it set for ever unless it is told `rtcsync`.
UNSYNCHRONISED_SECONDS = 16.0
# The node exporter's mixin calls 50 ms a skew; Amazon Time Sync keeps a clock within 1 ms.
OFFSET_SECONDS = 0.1
# A step, or a clock that was far off: chronyd slews by 83 ms a second at most (its maxslewrate).
JUMP_SECONDS = 1.0
LASTS_SECONDS = 120.0
_COMPARABLE_SECONDS = 600.0  # for longer than that an unset clock drifts as far by itself
_KIND = Kind.HOST_CLOCK_UNSYNCHRONISED


@dataclass(frozen=True, slots=True)
class ClockPoll:
    """Asks kernel and chrony again and again; steps within *boot_grace* seconds since boot are how a clock is set."""

    discipline: Callable[[], Discipline]
    tracking: Callable[[], Tracking | None]
    boot_grace: float = 0.0

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll`."""
        tracking = self.tracking()
        jumped = judge_jump(memory, now)
        found: list[Reading] = [jumped] if jumped and now.ticks >= self.boot_grace else []
        try:
            return [*found, *judge(self.discipline(), tracking)]
        except PermissionError:
            return [*found, *judge(None, tracking)] if tracking else [*found, NotMeasured(frozenset({_KIND}))]


def judge(discipline: Discipline | None, tracking: Tracking | None) -> list[Reading]:
    """Return what is wrong with the clock now, from what of the two is known."""
    found: list[Reading] = []
    nobody = discipline is not None and discipline.max_error >= UNSYNCHRONISED_SECONDS
    if nobody or (tracking is not None and not tracking.synchronised):
        error = {"max_error_seconds": round(discipline.max_error, 3)} if discipline else {}
        found.append(_holds("unsynchronised", "nobody keeps this node's clock right", error))
    elif tracking is not None and abs(tracking.offset) > OFFSET_SECONDS:
        off = round(tracking.offset, 3)
        found.append(_holds("offset", f"this node's clock is off by {off} s", {"offset_seconds": off}))
    return found


def judge_jump(memory: Memory, now: Instant) -> Happened | None:
    """Tell whether the wall clock moved against the clock since boot; *memory* holds the last look."""
    wall, before = now.at.timestamp(), memory.get("last")
    memory["last"] = [wall, now.ticks]
    if before is None or now.ticks - before[1] > _COMPARABLE_SECONDS:
        return None
    jump = round((wall - before[0]) - (now.ticks - before[1]), 3)
    if abs(jump) < JUMP_SECONDS:
        return None
    sighting = Sighting(_KIND, Severity.WARNING, NODE, {"reason": "jump", "jump_seconds": jump})
    return Happened(sighting, f"this node's clock jumped by {jump} s")


def _holds(reason: str, message: str, more: dict[str, float]) -> Holds:
    attributes: dict[str, Scalar] = {"reason": reason, **more}
    sighting = Sighting(_KIND, Severity.WARNING, NODE, attributes)
    return Holds(sighting, message, after=LASTS_SECONDS, again=3600.0, cleared_after=120.0, in_boot=False)
