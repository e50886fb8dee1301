"""What can go wrong in the embedded AWS. Each message says what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass


class EmbeddedAwsError(Exception):
    """Root of everything that local.aws raises on purpose."""


class StartError(EmbeddedAwsError):
    """The server process did not come up, or went away."""


class ControlError(EmbeddedAwsError):
    """A call to the control endpoint was refused: the message is the server's own."""


class WorkerLostError(EmbeddedAwsError):
    """A Lambda worker died, or was killed at its deadline, before it answered."""


class UnsupportedError(EmbeddedAwsError):
    """The template asks for something that AWS has and the embedded AWS does not represent."""


@dataclass(frozen=True, slots=True)
class ResourceProblem:
    """One resource of a template that does not exist afterwards as the template asks for it."""

    logical_id: str
    type: str
    reason: str

    def __str__(self) -> str:
        return f"{self.logical_id} ({self.type}): {self.reason}"


class DeployError(EmbeddedAwsError):
    """A stack is not what its template says. `problems` names every resource, root causes first."""

    def __init__(self, stack: str, problems: Sequence[ResourceProblem]) -> None:
        self.stack = stack
        self.problems = tuple(problems)
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(
            f"stack {stack} was not created as its template asks:\n{lines}\n"
            "Add the type to local/aws/cloudformation, or to local/aws/no_ops.py with the reason why nothing is lost."
        )
