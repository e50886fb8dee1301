"""Let DCGM test the GPUs, while no process holds one, and read its verdict.

`dcgmi diag -j` nests results as "DCGM GPU Diagnostic" (3.x) or "DCGM Diagnostic" (4.x) → test_categories → tests →
results, each with a status; warnings may stand before the document. Source: DCGM's nvvs/include/NvvsCommon.h and
dcgmi/Diag.cpp. No test that ran is no success. It must not decide what a failed test means for the node.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent.commands.doing import Errand, Outcome, Resource
from agent.commands.holders import holders
from agent.programs import run
from policies.contract.commands.operations import BurnIn
from policies.contract.events import Scalar

_PROGRAM = "dcgmi"
_MOST_NAMED = 8


class BurnsIn:
    """`burn_in`."""

    resource = Resource.GPUS

    def __init__(self, procfs: Path) -> None:
        """Look at *procfs* for who holds a GPU."""
        self._procfs = procfs

    def why_not(self, params: BurnIn) -> str:
        """Refuse while somebody computes: both would suffer, and the test would blame the GPU."""
        del params
        found = holders(self._procfs)
        return f"{found[0].name} ({found[0].pid}) holds a GPU; suspend the job first" if found else ""

    def run(self, params: BurnIn, errand: Errand) -> Outcome:
        """Test, and count."""
        said = run([_PROGRAM, "diag", "-r", str(params.level), "-j"], errand.left)
        results = list(read_results(said.output))
        failed = sorted({name for name, status in results if status == "fail"})
        passed = sum(status == "pass" for _, status in results)
        facts: dict[str, Scalar] = {"passed": passed, "failed": len(failed), "level": params.level}
        if failed:
            return Outcome(
                ok=False, reason=f"failed: {', '.join(failed[:_MOST_NAMED])}", output=said.output, facts=facts
            )
        if not said.ok or not passed:
            why = str(said) if not said.ok else "no test ran"
            return Outcome(ok=False, reason=why, output=said.output, facts=facts)
        return Outcome(ok=True, reason=f"{passed} tests passed", output=said.output, facts=facts)

    def look_back(self, params: BurnIn, errand: Errand) -> Outcome:
        """What a test would have said is not known from outside."""
        del params, errand
        return Outcome(ok=False, reason="the test was broken off")


def read_results(text: str) -> Iterator[tuple[str, str]]:
    """Yield (test, status in lower case) of each result that `dcgmi diag -j` printed; nothing where there is none."""
    try:
        document = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return
    root = next((document[key] for key in ("DCGM Diagnostic", "DCGM GPU Diagnostic") if key in document), document)
    for category in _dicts(root, "test_categories"):
        for test in _dicts(category, "tests"):
            name = str(test.get("name", "unnamed"))
            for result in _dicts(test, "results"):
                yield name, str(result.get("status", "")).lower()


def _dicts(parent: Any, name: str) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - JSON of whoever printed it
    found = parent.get(name) if isinstance(parent, dict) else None
    yield from (one for one in found or () if isinstance(one, dict)) if isinstance(found, list) else ()
