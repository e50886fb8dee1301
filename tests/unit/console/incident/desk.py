"""The command with twins, over incidents that coordinate itself made in the virtual world."""

import argparse
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from console.commands import incident as command
from console.incident.parts import Parts
from console.incident.ports import Closings
from console.incident.twins import MemoryIncidents
from functions.acts.act import Act
from policies.contract.decisions import CloseMessage
from policies.contract.restraints import ApproveMessage, VerdictMessage
from policies.contract.rungs import Rung
from policies.coordination.incident import Incident
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import CLUSTER, START, finding, findings, plan
from tests.tools.world import World


@dataclass
class Sending:
    """Closings that reach the world's coordinate, unless it is deaf."""

    world: World
    deaf: bool = False
    plain: bool = False  # coordinate knows only what it knew before a no had a time
    sent: list[CloseMessage | ApproveMessage | VerdictMessage] = field(default_factory=list)

    def send(self, message: CloseMessage | ApproveMessage | VerdictMessage, at: datetime) -> None:
        self.sent.append(message)
        if self.plain and isinstance(message, ApproveMessage):
            message = message.model_copy(update={"at": None, "for_seconds": 0.0, "seen": None})
        if not self.deaf:
            self.world.send(message)


class Desk:
    def __init__(self, acts: dict[Rung, Act] | None = None) -> None:
        self.world = World(lambda _: {**acts_on(Site()), **(acts or {})})
        self.closings = Sending(self.world)
        self.slept: list[float] = []

    def break_node(self, node: str = "i-1", *, after: float = 0.0, asks: bool = False) -> None:
        policy = plan(deadline=6000, approval=asks)
        self.world.send(findings(finding(node, policy=policy)), after=after)

    def break_again(self) -> None:
        """Have the same found once more, a minute later."""
        policy = self.incident().policy
        seen = self.world.now + timedelta(seconds=59)
        told = finding(name=f"at {seen}", policy=policy, seen=seen)
        passed = (self.world.now - START).total_seconds()
        self.world.send(findings(told), after=60)
        self.world.run(passed + 65)

    def after(self, seconds: float) -> "Desk":
        self.world.run(seconds)
        return self

    def incident(self, node: str = "i-1") -> Incident:
        return self.world.incident(node)

    def run(self, *words: str) -> int:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        return command.perform(parser.parse_args(words), self.parts())

    def parts(self) -> Parts:
        closings: Closings = self.closings
        return Parts([CLUSTER], MemoryIncidents(self.world.store), closings, lambda: self.world.now, self._pause)

    def _pause(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.world.run((self.world.now - START + timedelta(seconds=seconds)).total_seconds())
