"""What the three subcommands print: tables for people, JSON for machines. It must not read or send anything."""

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.text import Text

from console.ago import ago
from console.dlq.model import DeadQueue, Outcome
from console.dlq.overview import Overview
from console.dlq.parts import name_of
from console.dlq.showing import Shown
from console.rows import Row, print_rows
from console.saying import say
from console.terminal import terminal
from policies.contract.times import format_time

_SHORT = 12  # of an id of 32: enough for --id


@dataclass(frozen=True)
class Screen:
    """Prints answers to standard output, progress to standard error."""

    as_json: bool
    now: datetime

    def overview(self, seen: Overview) -> None:
        """Print the list."""
        if self.as_json:
            self._json(_overview_document(seen))
            return
        out = terminal()
        print_rows(out, ("dead-letter queue", "from", "messages", "hidden", "oldest"), self._queues(seen.queues))
        if seen.reasons:
            reason = f"rejects of {seen.days} days"
            headings = ("id of the newest", "count", "redriven", "newest", reason)
            print_rows(out, headings, self._reasons(seen), text=reason)
        if seen.failures:
            newest = seen.failures[-1]
            out.print(
                Text(
                    f"failures: {len(seen.failures)} batches given up ({seen.failures_redriven} redriven),"
                    f" newest {self._ago(newest.at)}: {name_of(newest.key)}"
                )
            )
        out.print(Text(_closing(seen)))

    def _queues(self, queues: Sequence[DeadQueue]) -> list[Row]:
        rows: list[Row] = []
        for queue in queues:
            source = queue.source_name or "what could not be delivered"
            depth, hidden = str(queue.state.depth), str(queue.state.in_flight)
            rows.append((queue.name, source, depth, hidden, self._ago(queue.oldest)))
        return rows

    def _reasons(self, seen: Overview) -> list[Row]:
        rows: list[Row] = []
        for one in seen.reasons:
            newest = self._ago(one.newest.arrived_at)
            reason = f"{one.reason}\n{one.hint}".strip()
            rows.append((one.newest.id[:_SHORT], str(one.count), str(one.redriven), newest, reason))
        return rows

    def items(self, place: str, shown: Sequence[Shown]) -> None:
        """Print the items of one place."""
        if self.as_json:
            self._json({"place": place, "items": [_item(one) for one in shown]})
            return
        out = terminal()
        if not shown:
            out.print(Text(f"{place}: nothing is there."))
        for one in shown:
            again = f", redriven {self._ago(one.redriven_at)}" if one.redriven_at else ""
            tries = f", tried {one.tries} times" if one.tries is not None else ""
            origin = f", {one.origin}" if one.origin else ""
            out.print(Text(one.id, style="bold"), Text(f"{self._ago(one.at)}{origin}{tries}{again}"))
            out.print(Text(f"  why: {one.why}"))
            if one.body:
                out.print(Text(f"  {one.body}", style="dim"))

    def outcomes(self, place: str, outcomes: Sequence[Outcome], left_out: int) -> None:
        """Print what became of a redrive."""
        counts = {status: sum(one.status == status for one in outcomes) for status in _STATUSES}
        if self.as_json:
            items = [{"id": one.id, "status": one.status, "detail": one.detail} for one in outcomes]
            self._json({"place": place, "counts": counts, "redriven_before": left_out, "items": items})
            return
        out = terminal()
        for one in outcomes:
            out.print(Text(one.status, style=_STATUSES[one.status]), Text(f"{name_of(one.id)}  {one.detail}"))
        told = ", ".join(f"{number} {status}" for status, number in counts.items() if number) or "nothing to redrive"
        before = f"; {left_out} were redriven before (--again sends them once more)" if left_out else ""
        out.print(Text(f"{place}: {told}{before}."))
        if any(one.is_left for one in outcomes):
            out.print(Text(f"What was refused or failed is still there: relight dlq show {place}"))

    def progress(self, text: str) -> None:
        """Say how far it is."""
        if not self.as_json:
            say(text, file=sys.stderr)

    def _ago(self, moment: datetime | None) -> str:
        return "-" if moment is None else ago(self.now, moment)

    @staticmethod
    def _json(document: dict[str, Any]) -> None:
        print(json.dumps(document, ensure_ascii=False, indent=1))


_STATUSES = {"redriven": "green", "planned": "cyan", "refused": "yellow", "failed": "red"}


def _closing(seen: Overview) -> str:
    if seen.is_empty:
        return "Nothing waits for you: every queue is empty, and all rejects and failures were redriven."
    return "Next: relight dlq show NAME, mend the cause, relight dlq redrive NAME --dry-run"


def _overview_document(seen: Overview) -> dict[str, Any]:
    return {
        "empty": seen.is_empty,
        "queues": [
            {
                "name": queue.name,
                "url": queue.state.url,
                "source": queue.source_name or None,
                "fifo": queue.state.fifo,
                "messages": queue.state.depth,
                "hidden": queue.state.in_flight,
                "oldest_at": _time(queue.oldest),
            }
            for queue in seen.queues
        ],
        "rejects": {
            "days": seen.days,
            "count": sum(one.count for one in seen.reasons),
            "redriven": sum(one.redriven for one in seen.reasons),
            "by_reason": [
                {
                    "reason": one.reason,
                    "hint": one.hint,
                    "count": one.count,
                    "redriven": one.redriven,
                    "newest_at": _time(one.newest.arrived_at),
                    "newest_id": one.newest.id,
                }
                for one in seen.reasons
            ],
        },
        "failures": {
            "count": len(seen.failures),
            "redriven": seen.failures_redriven,
            "newest_at": _time(seen.failures[-1].at) if seen.failures else None,
            "keys": [one.key for one in seen.failures],
        },
    }


def _item(one: Shown) -> dict[str, Any]:
    return {
        "id": one.id,
        "at": _time(one.at),
        "why": one.why,
        "tries": one.tries,
        "origin": one.origin or None,
        "redriven_at": _time(one.redriven_at),
        "body": one.body,
    }


def _time(moment: datetime | None) -> str | None:
    return format_time(moment) if moment else None
