"""An operation for tests of whoever carries operations out."""

import threading
from dataclasses import dataclass, field

from agent.commands.doing import Errand, Outcome, Resource
from policies.contract.commands.operations import Params


@dataclass
class FakeDoing:
    """An operation that notes what is asked of it. It waits for ``gate``; ``refuses`` and ``raises`` as they say."""

    resource: Resource = Resource.GPUS
    refuses: str = ""
    raises: Exception | None = None
    outcome: Outcome = field(default_factory=lambda: Outcome(ok=True, output="done"))
    back: Outcome = field(default_factory=lambda: Outcome(ok=False, reason="nobody can tell"))
    runs: list[str] = field(default_factory=list)
    looks: list[Errand] = field(default_factory=list)
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    def why_not(self, params: Params) -> str:
        return self.refuses

    def run(self, params: Params, errand: Errand) -> Outcome:
        self.runs.append(errand.id)
        assert self.gate.wait(10)
        if self.raises:
            raise self.raises
        return self.outcome

    def look_back(self, params: Params, errand: Errand) -> Outcome:
        self.looks.append(errand)
        return self.back
