"""Draws what a terminal shows of a recorded demo: `relight demo --json > run.jsonl`, then

    python -m tests.tools.timeline run.jsonl docs/pictures/timeline.svg

Every word comes from the recording and goes through the demo's own display: nothing here can invent a line.
"""

import io
import json
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console

from local.demo.live import LiveTeller
from local.demo.report import STAGES, Report, StageReached
from local.fleet.fleet import Fault

WIDTH = 118
# A picture in a page loads no fonts from elsewhere: the reader's own monospace does.
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono"
FORMAT = re.sub(r"@font-face \{\{.*?\}\}\n", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace("Fira Code", FONTS)


def draw(lines: list[dict[str, Any]]) -> str:
    """Return the SVG of the recording *lines*, which must end with a report."""
    teller = LiveTeller(io.StringIO(), STAGES)
    teller._console = Console(record=True, file=io.StringIO(), width=WIDTH, highlight=False)
    for line in lines:
        match line.pop("type"):
            case "phase":
                teller.phase(line["text"])
            case "fault":
                teller.broke(_fault(line))
            case "stage":
                teller.stage(_stage(line))
            case "report":
                teller.end(_report(line), line["wall_seconds"])
            case kind:
                raise SystemExit(f"the recording holds {kind!r}: draw one of a run that went well.")
    return teller._console.export_svg(title="make demo", code_format=FORMAT, unique_id="demo")


def _fault(line: dict[str, Any]) -> Fault:
    at = datetime.fromisoformat(line["at"])
    return Fault(instance_id=line["instance"], node=line["node"], gpu=line["gpu"], xid=line["xid"], at=at)


def _stage(line: dict[str, Any]) -> StageReached:
    return StageReached(line["name"], datetime.fromisoformat(line["at"]), line["seconds"], line.get("detail", ""))


def _report(line: dict[str, Any]) -> Report:
    checkpoint = line["checkpoint"]
    same = ("policy", "incident_id", "old_instance", "new_instance", "resumed_step", "confirmed_step", "alerts")
    counts = ("events_sent", "events_lost", "acts_repeated", "gpu_hours_lost")
    return Report(
        stages=tuple(_stage(stage) for stage in line["stages"]),
        chosen_step=checkpoint["chosen_step"],
        refused=tuple(checkpoint["refused"]),
        **{name: line[name] for name in (*same, *counts)},
    )


if __name__ == "__main__":
    recording, picture = map(Path, sys.argv[1:])
    told = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines()]
    picture.write_text(draw(told).replace(" \n", "\n"), encoding="utf-8")
