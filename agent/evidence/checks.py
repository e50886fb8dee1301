"""What works here of the evidence, and what to do about what does not."""

import os
import shutil
from collections.abc import Iterator

from agent.check_result import CheckResult
from agent.evidence.wiring import folder_of
from agent.settings import Settings

_PROGRAMS = ("py-spy", "nvidia-smi", "nvidia-bug-report.sh")


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Try the folder; say where evidence goes and which programs add to it."""
    folder = folder_of(settings)
    there = next((one for one in (folder, *folder.parents) if one.exists()), folder)
    if os.access(there, os.W_OK | os.X_OK) and there.is_dir():
        goes = (
            f"s3://{settings.evidence_bucket}" if settings.evidence_bucket else "nowhere else: evidence_bucket is unset"
        )
        yield CheckResult("evidence", ok=True, found=f"kept in {folder}, and goes to {goes}")
    else:
        yield CheckResult(
            "evidence", ok=False, found=f"{folder} cannot be written.", hint="Set evidence_dir to a folder of its own."
        )
    has = [name for name in _PROGRAMS if shutil.which(name)]
    lacks = [name for name in _PROGRAMS if name not in has]
    if has:
        yield CheckResult("evidence with", ok=True, found=", ".join(has))
    if lacks:
        yield CheckResult("evidence lacks", ok=True, found=f"there is no {', no '.join(lacks)}", is_here=False)
