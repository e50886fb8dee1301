"""The story on a terminal (rich): what has happened stands as it was printed, and below it what is still to come.

Only what is still to come is redrawn, so that the story may grow longer than the window and be scrolled.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from local.demo.display import broken, failure_lines, held_lines, summary
from local.demo.holding import Held
from local.demo.report import Report, StageReached
from local.fleet.fleet import Fault

_SECONDS_WIDTH = 8


class LiveTeller:
    """Redraws the rest of the story a few times a second until it is closed."""

    def __init__(self, out: TextIO, stages: Sequence[str]) -> None:
        self._console = Console(file=out, highlight=False)
        self._stages = stages
        self._to_come: list[str] = []
        self._phase = ""
        self._is_over = False
        self._live = Live(get_renderable=self._draw, console=self._console, refresh_per_second=8, transient=False)
        self._live.start()

    def phase(self, text: str) -> None:
        self._end_phase()
        self._phase = text

    def broke(self, fault: Fault) -> None:
        self._end_phase()
        self._console.print(Text(f"✗ {broken(fault)}", style="bold red"))
        self._to_come = list(self._stages)

    def stage(self, stage: StageReached) -> None:
        is_awaited = stage.name in self._stages
        self._to_come = [name for name in self._to_come if name != stage.name]
        mark = Text("●", style="green") if is_awaited else Text("·")
        row = self._row(mark, stage.name, f"{max(0.0, stage.seconds):.2f} s", stage.detail)
        self._console.print(row, style=None if is_awaited else "dim")

    def end(self, report: Report, seconds: float) -> None:
        self.close()
        table = Table.grid(padding=(0, 3))
        for what, told in summary(report, seconds):
            table.add_row(what, Text(told))
        self._console.print(Panel(table, title="the run goes on"))

    def failed(self, problems: Sequence[str], logs: Path) -> None:
        self.close()
        self._console.print(Panel(Text("\n".join(failure_lines(problems, logs))), style="red"))

    def held(self, held: Held) -> None:
        self.close()
        self._console.print(Text("\n".join(held_lines(held))), soft_wrap=True)  # a line that is copied is not broken

    def close(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._live.refresh()
            self._live.stop()

    def _end_phase(self) -> None:
        ended, self._phase = self._phase, ""  # first: a print draws the rest anew
        if ended:
            self._console.print(Text(f"✓ {ended}", style="dim"))

    def _draw(self) -> RenderableType:
        """Return what is under way or still to come; what never came stands there when all is over."""
        if self._phase:
            return Text(f"○ {self._phase}", style="dim") if self._is_over else Spinner("dots", text=self._phase)
        return Group(*(self._row(Text("○", style="dim"), name, "", "") for name in self._to_come))

    def _row(self, mark: Text, stage: str, seconds: str, detail: str) -> Table:
        """Return one line of a table whose columns stand where every other line has them."""
        table = Table(box=None, padding=(0, 1), show_header=False)
        table.add_column(width=1)
        table.add_column(width=max(map(len, self._stages)), no_wrap=True)
        table.add_column(width=_SECONDS_WIDTH, justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        words = Text(stage.replace("_", " "), style="" if seconds else "dim")
        table.add_row(mark, words, seconds, Text(detail))
        return table
