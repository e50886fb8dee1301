"""Whether this node can share GPU memory with the others of its UltraServer: daemon, domain, channels.

Decides by what was so before in this boot: a daemon that never answered may have its command service switched off, or
be started with each job (Slurm's prolog does), so its silence is no fault; one that was ready is missed. Everything
must last a minute: a new job's prolog restarts the daemon and changes the domain. It must not know how it is asked.

A peer that is not ready is named by its address and accused; this node is not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from agent.fabric.imex.domain import READY, Domain
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Memory, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

LASTS_SECONDS = 60.0
_KINDS = frozenset({Kind.IMEX_ERROR})


@dataclass(frozen=True, slots=True)
class ImexLook:
    """What was found now. ``state`` of this node's daemon, None when it did not say; ``peers`` by the configuration.

    ``channels``: how many channel devices there are, None when it cannot be seen.
    """

    state: str | None
    domain: Domain | None
    peers: frozenset[str]
    own: frozenset[str] = frozenset()
    channels: int | None = None


def judge_imex(look: ImexLook, memory: Memory) -> list[Reading]:
    """Return what is wrong with this node's daemon, its channels and its peers."""
    if look.state == READY:
        memory["was_ready"] = True
        return [*_peers(look), *_channels(look)]
    if look.state is None and not memory.get("was_ready"):
        return [NotMeasured(_KINDS)]
    return [_daemon(look.state, was_ready=bool(memory.get("was_ready")))]


def _daemon(state: str | None, *, was_ready: bool) -> Holds:
    told = state or "no answer"
    severity = Severity.ERROR if was_ready else Severity.WARNING
    return _holds("daemon", severity, {"state": told}, f"the IMEX daemon of this node is not ready: {told}")


def _peers(look: ImexLook) -> list[Reading]:
    if look.domain is None:
        return [NotMeasured(_KINDS)]
    status: Mapping[str, str] = look.domain.nodes
    readings: list[Reading] = []
    for host in sorted((look.peers | status.keys()) - look.own - {""}):
        if (state := status.get(host, "not in the domain")) != READY:
            notes: dict[str, Scalar] = {"remote": host, "state": state, "domain": look.domain.status}
            readings.append(_holds("peer", Severity.WARNING, notes, f"IMEX peer {host} is not ready: {state}"))
    if not readings and look.domain.status != "UP":
        notes = {"domain": look.domain.status}
        readings.append(_holds("domain", Severity.WARNING, notes, f"the IMEX domain is {look.domain.status}"))
    return readings


def _channels(look: ImexLook) -> list[Reading]:
    if look.channels != 0:
        return []
    text = "there is no channel in /dev/nvidia-caps-imex-channels: no process can import memory"
    return [_holds("channels", Severity.WARNING, {}, text)]


def _holds(reason: str, severity: Severity, notes: Mapping[str, Scalar], text: str) -> Holds:
    sighting = Sighting(Kind.IMEX_ERROR, severity, NODE, {"reason": reason, **notes})
    return Holds(sighting, text, after=LASTS_SECONDS, in_boot=False)
