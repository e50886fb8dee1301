"""The story as a live table on a terminal (rich): every stage from the beginning, filled in as it is reached."""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from local.demo.display import failure_lines, summary_lines
from local.demo.report import Report, StageReached
from local.fleet.fleet import Fault


class LiveTeller:
    """Redraws itself a few times a second until it is closed."""

    def __init__(self, out: TextIO, stages: Sequence[str]) -> None:
        self._console = Console(file=out, highlight=False)
        self._stages = stages
        self._reached: dict[str, StageReached] = {}
        self._others: list[StageReached] = []
        self._phases: list[str] = []
        self._fault: Fault | None = None
        self._is_over = False
        self._live = Live(get_renderable=self._draw, console=self._console, refresh_per_second=8, transient=False)
        self._live.start()

    def phase(self, text: str) -> None:
        self._phases.append(text)

    def broke(self, fault: Fault) -> None:
        self._fault = fault

    def stage(self, stage: StageReached) -> None:
        if stage.name in self._stages:
            self._reached[stage.name] = stage
        else:
            self._others.append(stage)

    def end(self, report: Report, seconds: float) -> None:
        self.close()
        self._console.print(Panel("\n".join(map(_plain, summary_lines(report, seconds))), title="the run goes on"))

    def failed(self, problems: Sequence[str], logs: Path) -> None:
        self.close()
        self._console.print(Panel("\n".join(map(_plain, failure_lines(problems, logs))), style="red"))

    def close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._live.refresh()
            self._live.stop()

    def _draw(self) -> RenderableType:
        done = [Text(f"✓ {text}", style="dim") for text in self._phases[:-1]]
        parts: list[RenderableType] = [*done, *self._current_phase()]
        if self._fault is not None:
            fault = self._fault
            told = f"✗ GPU {fault.gpu} of {fault.node} ({fault.instance_id}) fell off the bus: Xid {fault.xid}"
            parts += [Text(told, style="bold red"), self._table()]
        return Group(*parts)

    def _current_phase(self) -> list[RenderableType]:
        if not self._phases:
            return []
        if self._is_over or self._fault is not None:
            return [Text(f"✓ {self._phases[-1]}", style="dim")]
        return [Spinner("dots", text=self._phases[-1])]

    def _table(self) -> Table:
        table = Table(box=None, padding=(0, 1), show_header=False)
        table.add_column(width=1)
        table.add_column(no_wrap=True)
        table.add_column(justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for name in self._stages:
            reached = self._reached.get(name)
            words = name.replace("_", " ")
            if reached is None:
                table.add_row("○", words, "", "", style="dim")
            else:
                table.add_row("[green]●[/]", words, f"{max(0.0, reached.seconds):.2f} s", _plain(reached.detail))
        for other in self._others:
            table.add_row("·", other.name, f"{other.seconds:.2f} s", _plain(other.detail), style="dim")
        return table


def _plain(text: str) -> str:
    """Text without anything that rich would take for markup."""
    return text.replace("[", "\\[")
