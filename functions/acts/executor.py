"""What the six executors have in common: their settings, and the way from an invocation to a report.

It must not know which acts an executor has, nor make clients: a handler does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from functions.acts.act import Act
from functions.acts.frame import carry_out
from functions.acts.support import Pace
from functions.ports.acts import ActStore, LeaseReader
from functions.settings import ClusterSettings, read_clusters, read_text, read_time_scale
from policies.contract.decisions import RungRequest
from policies.contract.envelope import explain
from policies.contract.errors import BadInputError
from policies.contract.rungs import Rung


@dataclass(frozen=True)
class ExecutorSettings:
    """The two tables, the clusters, and how much shorter than real seconds waits are."""

    fleet_table: str
    incidents_table: str
    clusters: Mapping[str, ClusterSettings]
    time_scale: float

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "ExecutorSettings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(
            fleet_table=read_text(environ, "FLEET_TABLE"),
            incidents_table=read_text(environ, "INCIDENTS_TABLE"),
            clusters=read_clusters(environ),
            time_scale=read_time_scale(environ),
        )

    @property
    def pace(self) -> Pace:
        """How often this executor looks."""
        return Pace(self.time_scale)


@dataclass(frozen=True)
class Executor:
    """One executor: its acts and what the frame needs."""

    acts: Mapping[Rung, Act]
    incidents: ActStore
    leases: LeaseReader
    clusters: Mapping[str, ClusterSettings]
    clock: Callable[[], datetime]

    def run(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out the RungRequest in *event*; return the RungReport as JSON. Raises what `carry_out` raises."""
        try:
            request = RungRequest.model_validate(event)
        except ValidationError as error:
            raise BadInputError(
                f"the invocation is no rung request: {explain(error)}.",
                hint="Only handle-incident may invoke executors; check who did.",
            ) from None
        report = carry_out(
            request,
            acts=self.acts,
            incidents=self.incidents,
            leases=self.leases,
            clusters=self.clusters,
            clock=self.clock,
        )
        return report.model_dump(mode="json")
