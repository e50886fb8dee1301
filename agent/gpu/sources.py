"""Which sources this folder has on this node. Decides only what is wired to what."""

from agent.gpu.dcgm.command import health_report
from agent.gpu.dcgm.poll import DcgmPoll
from agent.gpu.instance_types import has_narrow_slots
from agent.gpu.judge import Expected
from agent.gpu.nvml.poll import NvmlPoll, bus_of
from agent.gpu.nvml.reader import FIRST_SECONDS, ProbeReader
from agent.wiring import Run, Wiring
from policies.contract.catalog.instances import gpus_of
from policies.contract.vocabulary import Source

NVML, DCGM = Source.NVML.value, Source.DCGM.value
DCGM_SECONDS, DCGM_DEADLINE = 60.0, 30.0


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings, found = wiring.settings, {}
    if settings.nvml == "auto":
        found[NVML] = wiring.poll(
            NVML, nvml_poll(wiring), Source.NVML, every=settings.nvml_poll_seconds, deadline=FIRST_SECONDS
        )
    if settings.dcgm == "auto":
        poll = DcgmPoll(health_report, lambda: _is_running(wiring, NVML))
        found[DCGM] = wiring.poll(DCGM, poll, Source.DCGM, every=DCGM_SECONDS, deadline=DCGM_DEADLINE)
    return found


def nvml_poll(wiring: Wiring) -> NvmlPoll:
    """Return the poll of NVML for this node."""
    settings, kind = wiring.settings, wiring.node.instance_type
    reader = ProbeReader(wiring.prober, settings.nvml_library)
    expected = Expected(gpus_of(kind), has_narrow_slots(kind))
    return NvmlPoll(reader, wiring.xids, expected, bus_of(settings.sysfs))


def _is_running(wiring: Wiring, name: str) -> bool:
    return any(one.name == name and one.state == "running" for one in wiring.vitals.all())
