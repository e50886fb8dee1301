"""What a command did to policies, as the one document of `--json`: what was written and judged, and what is left.

Decides the form, and that nothing else reaches standard output meanwhile: what people are told goes to standard error.
It must not know what a command does.
"""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from console.policy.complaining import FAILED, complain
from policies.contract.errors import RelightError


@dataclass
class Answer:
    """Filled while the command works: so it says what was written even where the command is stopped half-way.

    ``problems`` are those of files, which keep everything from being written; ``left`` is what is not done, and why.
    """

    action: str
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def of(self, name: str, **known: Any) -> None:  # noqa: ANN401 - JSON of any shape
        """Add what is *known* of one policy."""
        self.policies.setdefault(name, {"name": name, "written": False}).update(known)

    def judged(self, name: str, verdict: Mapping[str, Any] | None) -> None:
        """Add the guard's verdict on one policy, None while there is none."""
        if verdict is None:
            return self.of(name, verdict=None)
        problems = [dict(problem) for problem in verdict.get("problems", ())]
        words = {key: verdict.get(key) for key in ("status", "revision", "mode")}
        return self.of(name, verdict={**words, "problems": problems})

    def leave(self, text: str) -> str:
        """Add what is left though the command did what was asked; return it."""
        self.left.append(text)
        return text

    def failed(self, text: str) -> int:
        """Say on standard error, and in the answer, what was not done; return the exit status."""
        self.left.append(text)
        return complain(text)

    def document(self, status: int) -> dict[str, Any]:
        """Return it for machines; *status* is the exit status."""
        policies = list(self.policies.values())
        told = {"action": self.action, "done": status == 0, "policies": policies}
        return {**told, "problems": self.problems, "left": self.left}


def answered(answer: Answer, work: Callable[[], int], *, as_json: bool) -> int:
    """Do *work* and return its exit status; with *as_json* print the answer, if anything was looked at or done."""
    if not as_json:
        return work()
    status = FAILED
    try:
        with redirect_stdout(sys.stderr):
            status = work()
    except RelightError as error:
        answer.left.append(error.message)
        raise
    except KeyboardInterrupt:
        answer.left.append("it was stopped before it was done.")
        raise
    finally:
        if answer.policies or answer.problems or status == 0:
            print(json.dumps(answer.document(status), ensure_ascii=False, indent=1, default=_plain))
    return status


def _plain(value: object) -> int | float | str:
    if isinstance(value, Decimal):  # DynamoDB's numbers
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
