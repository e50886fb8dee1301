"""What takes effect when settings change while the agent runs, and what needs a restart.

Each group of sources is begun anew when a setting of its own changed, all of them when one changed that they share;
what says who we are, where the spool is and where events go stays as it was begun. Decides only that. It must not know
what a setting means.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pydantic import BaseModel

from agent.fabric.settings import FabricSettings
from agent.gpu.settings import GpuSettings
from agent.host.settings import HostSettings
from agent.job.settings import JobSettings
from agent.settings import Settings

LOGS, GPU, FABRIC, HOST, JOB = "logs", "gpu", "fabric", "host", "job"
ALL_GROUPS: Final = frozenset({LOGS, GPU, FABRIC, HOST, JOB})
_MIXINS: Final[Mapping[str, type[BaseModel]]] = MappingProxyType(
    {GPU: GpuSettings, FABRIC: FabricSettings, HOST: HostSettings, JOB: JobSettings}
)
_OF_LOGS: Final = frozenset({
    "kernel_log", "kernel_log_start", "driver_version", "training_logs", "training_logs_at_most", "journal_units",
    "service_logs",
})  # fmt: skip
_SHARED: Final = frozenset({"job_file", "procfs", "sysfs", "boot_grace_seconds"})


@dataclass(frozen=True, slots=True)
class Changes:
    """``groups`` are begun anew; ``needs_restart`` are settings that changed and take no effect until then."""

    groups: frozenset[str]
    live: tuple[str, ...] = ()
    needs_restart: tuple[str, ...] = ()


def compare(running: Settings, wanted: Settings) -> Changes:
    """Return what it takes to get from *running* to *wanted*."""
    changed = [name for name in Settings.model_fields if getattr(running, name) != getattr(wanted, name)]
    groups = {name: _groups_of(name) for name in changed}
    return Changes(
        groups=frozenset().union(*groups.values()),
        live=tuple(name for name in changed if groups[name]),
        needs_restart=tuple(name for name in changed if not groups[name]),
    )


def merged(running: Settings, wanted: Settings, changes: Changes) -> Settings:
    """Return *running* with the settings of *wanted* that take effect now."""
    return running.model_copy(update={name: getattr(wanted, name) for name in changes.live})


def _groups_of(name: str) -> frozenset[str]:
    if name in _SHARED:
        return ALL_GROUPS
    if name in _OF_LOGS:
        return frozenset({LOGS})
    return frozenset(group for group, mixin in _MIXINS.items() if name in mixin.model_fields)
