"""What `relight policy report` prints: a table for people, the mail's text, JSON for machines."""

import json

from rich.table import Table
from rich.text import Text

from console.saying import say
from console.terminal import terminal
from policies.shadow.plain import as_document
from policies.shadow.report import ASSUMPTIONS, Advice, Report
from policies.shadow.text import NONE_IN_SHADOW, as_text, why

_STYLES = {Advice.ARM: "green", Advice.WAIT: "", Advice.MEND: "yellow"}


def print_text(report: Report) -> None:
    """Print what is mailed."""
    say(as_text(report).removesuffix("\n"))


def print_json(report: Report) -> None:
    """Print it for machines."""
    print(json.dumps(as_document(report), ensure_ascii=False, indent=1))


def print_table(report: Report) -> None:
    """Print one line a policy, and what all of it rests on."""
    out = terminal(highlight=False)
    if report.policies:
        out.print(_table(report))
    if not (report.policies or report.quiet):
        out.print(Text(NONE_IN_SHADOW))
    acting = f"{len(report.policies)} of {len(report.policies) + len(report.quiet)}"
    out.print(Text(f"{acting} policies in shadow would have acted; {report.tell_only} more touch nothing."))
    incidents = "1 incident" if report.incidents == 1 else f"{report.incidents} incidents"
    out.print(Text(f"Meanwhile {incidents}, {report.acted} of them acted on."))
    for line in ASSUMPTIONS:
        out.print(Text(f"- {line}", style="dim"))
    if report.candidates:
        out.print(Text(f"Next: relight policy set-mode {report.candidates[0].plan.name} active"))


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("advice")
    table.add_column("policy", no_wrap=True)
    table.add_column("cases", justify="right")
    table.add_column("GPU-hours", justify="right")
    table.add_column("what it would have done, where, and why the advice", overflow="fold")
    for one in report.policies:
        nodes = list(dict.fromkeys(case.node for case in one.cases))
        more = f" and {len(nodes) - 3} more" if len(nodes) > 3 else ""  # noqa: PLR2004 - the first few say where to look
        table.add_row(
            Text(one.advice.value, style=_STYLES[one.advice]),
            Text(one.plan.name),
            str(len(one.cases)),
            f"{one.gpu_hours:.1f}" if one.gpu_hours else "",
            Text(f"{' → '.join(one.plan.do)} on {', '.join(nodes[:3])}{more}; {why(one)}"),
        )
    return table
