"""What `relight archive` prints: tables for people, JSON for machines. It must not read an archive."""

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

from rich.table import Table
from rich.text import Text

from console.archive.counting import DayCount
from console.archive.pulling import Pulled
from console.archive.statistics import Statistics
from console.saying import say
from console.terminal import print_figures, terminal
from policies.contract.times import format_time

_KINDS_SHOWN, _BAD_SHOWN = 12, 10
# US dollars a month for a GB of S3 Standard, first 50 TB, us-east-1: what public pages quote of AWS's price list, which
# itself was not at hand. What has gone to infrequent access costs about half of it.
DOLLARS_A_GB_AND_MONTH = 0.023
_GB = 10**9


@dataclass(frozen=True)
class Screen:
    """Prints answers to standard output, progress to standard error."""

    as_json: bool
    address: str

    def progress(self, text: str) -> None:
        """Say how far it is."""
        if not self.as_json:
            say(text, file=sys.stderr)

    def statistics(self, found: Statistics) -> None:
        """Print what is in the archive."""
        if self.as_json:
            print(json.dumps(_document(self.address, found), indent=1))
            return
        out = terminal()
        if not found.days:
            out.print(Text(f"{self.address} holds nothing yet, or is not what holds events/."))
            return
        print_figures(out, _table(found.days))
        out.print(Text(_beside(found.days)))
        kinds = sum((each.kinds for each in found.days), Counter[str]())
        if kinds:
            shown = ", ".join(f"{name} {number}" for name, number in kinds.most_common(_KINDS_SHOWN))
            more = f" and {len(kinds) - _KINDS_SHOWN} more kinds" if len(kinds) > _KINDS_SHOWN else ""
            out.print(Text(f"kinds: {shown}{more}"))
        size = sum(sum(each.sizes.values()) for each in found.days)
        out.print(Text(f"{self.address}: {_bytes(size)}, about {_dollars(size):.2f} $ a month in S3 Standard."))
        for bad in found.bad[:_BAD_SHOWN]:
            out.print(Text(f"cannot be read: {bad}"))
        if found.wrong > _BAD_SHOWN:
            out.print(Text(f"and {found.wrong - _BAD_SHOWN} more that cannot be read."))

    def pulled(self, done: Pulled, target: str) -> None:
        """Print what was copied."""
        if self.as_json:
            copied = {"objects": done.objects, "bytes": done.size, "there": done.there}
            print(json.dumps({"archive": self.address, "folder": target, **copied}))
            return
        say(f"{target}: {done.objects} objects copied ({_bytes(done.size)}), {done.there} were there already.")


def _table(days: list[DayCount]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("day", no_wrap=True)
    for word in ("events", "heartbeats", "nodes", "missing", "incidents", "acts", "size"):
        table.add_column(word, justify="right", no_wrap=True)
    for each in days:
        row = (each.events, each.heartbeats, len(each.nodes), each.missing, len(each.incidents), len(each.acts))
        table.add_row(f"{each.day}", *map(str, row), _bytes(sum(each.sizes.values())))
    return table


def _beside(days: list[DayCount]) -> str:
    """Return what is worth a word in all and no column of its own."""
    told = {
        "came by overflow": sum(each.overflow for each in days),
        "are no envelope": sum(each.junk for each in days),
        "were archived twice": sum(each.repeated for each in days),
    }
    records = sum(each.records for each in days)
    again, policies = sum(each.sent_again for each in days), sum(each.policies for each in days)
    words = "".join(f", {number} {what}" for what, number in told.items() if number)
    return f"{records} records{words}; {again} events were sent again; {policies} changes of policies."


def _document(address: str, found: Statistics) -> dict[str, Any]:
    size = sum(sum(each.sizes.values()) for each in found.days)
    return {
        "archive": address,
        "days": [_day(each) for each in found.days],
        "bytes": size,
        "dollars_a_month_in_s3_standard": round(_dollars(size), 4),
        "unreadable": found.wrong,
        "bad": [{"object": bad.object, "line": bad.line, "reason": bad.reason} for bad in found.bad],
    }


def _day(each: DayCount) -> dict[str, Any]:
    return {
        "day": f"{each.day}",
        "records": each.records,
        "events": each.events,
        "envelopes": each.envelopes,
        "heartbeats": each.heartbeats,
        "canaries": each.canaries,
        "overflow": each.overflow,
        "junk": each.junk,
        "sent_again": each.sent_again,
        "missing": each.missing,
        "repeated": each.repeated,
        "nodes": len(each.nodes),
        "kinds": dict(sorted(each.kinds.items())),
        "incidents": len(each.incidents),
        "acts": len(each.acts),
        "policies": each.policies,
        "objects": each.objects,
        "bytes": dict(sorted(each.sizes.items())),
        "first": format_time(each.first) if each.first else None,
        "last": format_time(each.last) if each.last else None,
    }


def _dollars(size: int) -> float:
    return size / _GB * DOLLARS_A_GB_AND_MONTH


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:  # noqa: PLR2004 - as the units are
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
