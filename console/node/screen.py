"""What `relight node` prints: lines for people, JSON for machines. It must not read or send anything."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from rich.text import Text

from console.node.asking import told
from console.node.maintenance import Held
from console.rows import print_rows
from console.saying import say
from console.terminal import terminal
from policies.contract.commands.command import Command, CommandRecord, CommandStatus
from policies.contract.times import format_time
from policies.facts.maintenance import BROKEN, Maintenance, why_in_maintenance

_SHORT = 12
_STYLES = {
    CommandStatus.PENDING: "cyan",
    CommandStatus.RUNNING: "cyan",
    CommandStatus.DONE: "green",
    CommandStatus.FAILED: "red",
    CommandStatus.REFUSED: "red",
    CommandStatus.EXPIRED: "yellow",
}


@dataclass
class Screen:
    """Prints answers to standard output, progress to standard error."""

    as_json: bool
    now: datetime
    _said: set[CommandStatus] = field(default_factory=set)

    def before(self, command: Command) -> None:
        """Say what is about to be asked of which node."""
        params = json.dumps(command.params) if command.params else "no parameters"
        say(f"{command.operation} on {command.node}: {params}", file=sys.stderr)

    def progress(self, record: CommandRecord) -> None:
        """Say each status once."""
        if record.status not in self._said:
            self._said.add(record.status)
            say(f"{record.status} …", file=sys.stderr)

    def ended(self, record: CommandRecord) -> None:
        """Print how it stands."""
        if self.as_json:
            print(json.dumps(told(record), indent=2, sort_keys=True))
            return
        result = record.result
        say(f"{record.status}: {result.reason}" if result and result.reason else str(record.status))
        if result and result.facts:
            say(", ".join(f"{name} {value}" for name, value in result.facts.items()))
        if result and result.output:
            say(("… " if result.truncated else "") + result.output.rstrip())
        if result and result.address:
            say(f"kept at {result.address}")
        if record.status.is_open:
            say(f"It goes on; look again with: relight node commands {record.command.node.rpartition('/')[2]}")

    def list(self, records: Sequence[CommandRecord], *, silent: str = "") -> None:
        """Print one line a command, newest first; no agent of the node *silent* says that it takes any."""
        ordered = sorted(records, key=lambda one: one.command.issued_at, reverse=True)
        if self.as_json:
            print(json.dumps({"commands": [told(record) for record in ordered]}, indent=2, sort_keys=True))
            return
        if not ordered:
            say("Nothing was asked of it within a week.")
            if silent:
                say(f"No agent of {silent!r} says that it takes commands. Is it written right, and does the agent run?")
            return
        rows = []
        for record in ordered:
            command, result = record.command, record.result
            issued, why = format_time(command.issued_at)[:19], result.reason if result else ""
            status = Text(record.status, style=_STYLES[record.status])
            rows.append(
                (command.id[:_SHORT], command.operation, status, issued, command.by, command.incident[:_SHORT], why)
            )
        headings = ("command", "operation", "status", "issued", "by", "incident", "why")
        print_rows(terminal(), headings, rows, text="why")

    def taken(self, held: Held) -> None:
        """Say what is said of the node now, and what was said of it before."""
        if self.as_json:
            self._print_held(held)
            return
        assert held.now is not None
        say(
            f"{held.instance} {why_in_maintenance(held.now)}."
            " Nothing is done to it until then, and what has begun stops."
        )
        if held.before and held.before.by != held.now.by:
            say(f"Before: it {why_in_maintenance(held.before)}.")
        say(f"When you are done: relight node maintenance {held.instance} --end")

    def let_go(self, held: Held) -> None:
        """Say that the node is acted on again."""
        if self.as_json:
            self._print_held(held)
        elif held.before is None:
            say(f"{held.instance} is not in maintenance.")
        else:
            say(f"{held.instance} is out of maintenance: policies act on it again, from the next fault on.")
            say(f"What was found meanwhile: relight incident list --node {held.instance} --closed")

    def _print_held(self, held: Held) -> None:
        document = {"cluster": held.cluster, "node": held.instance}
        words = {"before": held.before, "maintenance": held.now}
        said = {name: one.model_dump(mode="json", exclude_none=True) if one else None for name, one in words.items()}
        print(json.dumps({**document, **said}, indent=2, sort_keys=True))

    def in_hand(self, found: Mapping[str, Mapping[str, Maintenance]]) -> None:
        """Print one line a node, the one that ends first at the top."""
        rows = sorted(
            (word.until, cluster, each, word) for cluster, words in found.items() for each, word in words.items()
        )
        if self.as_json:
            listed = [
                {"cluster": cluster, "node": each, **word.model_dump(mode="json", exclude_none=True)}
                for _until, cluster, each, word in rows
            ]
            print(json.dumps({"maintenance": listed}, indent=2, sort_keys=True))
            return
        if not rows:
            say("Nobody has a node in hand.")
            return
        lines = []
        for until, cluster, each, word in rows:
            ends = "ended by hand" if word is BROKEN else format_time(until)[:16]
            lines.append((each, cluster, ends, word.by, word.why))
        print_rows(terminal(), ("node", "cluster", "until", "by", "why"), lines, text="why")
