"""Which sources this folder has on this node. Decides only what is wired to what."""

from agent.fabric.efa.counts import at_most
from agent.fabric.efa.poll import EfaPresence
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Source

PRESENCE_SECONDS = 2.0  # one listing and a link for each device: cheap enough to be quick


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings = wiring.settings
    possible = at_most(wiring.node.instance_type or "")
    presence = EfaPresence(settings.sysfs, settings.efa_devices, possible)
    return {"efa": wiring.poll("efa", presence, Source.EFA, every=PRESENCE_SECONDS)}
