"""What whoever asked a back-test may not expect: which policies it leaves out, and which do nothing for their mode.

Decides what is said beside the account. It must not change it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from functions.ports.policies import Head
from policies.contract.vocabulary import PolicyMode
from policies.wording import first_few
from simulator.backtest import Report

MOST_NAMES = 3
A_FOLDER = "have those in force written by `relight policy pull --to DIR`, and ask with --policies DIR --mode active"
_KEEP = "--mode keep takes the modes that were in force, --mode active has all of them act"
_ARM = "ask again with --mode active for what would be done"


@dataclass(frozen=True)
class Tried:
    """The ``heads`` that are tried, of ``where``, beside those ``in_force`` when the archive ends.

    ``from_files``: a folder or a file says their modes. ``alone``: there is no other policy.
    """

    where: str
    heads: Sequence[Head]
    in_force: Sequence[Head] = ()
    from_files: bool = True
    alone: bool = True


def hints(tried: Tried, report: Report) -> Iterator[str]:
    """Yield them."""
    if tried.from_files and tried.alone:
        yield from _left_out(tried)
    yield from _inactive(tried, report)


def _left_out(tried: Tried) -> Iterator[str]:
    mine = {head.name for head in tried.heads}
    there = [head.name for head in tried.in_force if head.mode is not PolicyMode.OFF]
    others = sorted(set(there) - mine)
    if others:
        has = f"{len(there) - len(others)} of the {len(there)} policies that were in force when the archive ended"
        gone = f"the others are taken as gone ({first_few(others, MOST_NAMES)})"
        yield f"{tried.where} has {has}, and {gone}: --overlay lays it over them, as a push does"


def _inactive(tried: Tried, report: Report) -> Iterator[str]:
    """Yield which policies do nothing for their mode: all of them, or those that did something when it happened."""
    heads = tried.heads
    if (
        heads
        and not any(one.mode is PolicyMode.ACTIVE for one in heads)
        and not any(d.acts for d in report.after.deeds)
    ):
        again = _ARM if tried.from_files else A_FOLDER
        yield f"every policy of {tried.where} is in shadow or off, and so none does anything: {again}"
        return
    modes = {head.name: head.mode for head in heads}
    acted = (each.before for each in report.matters if each.before and not (each.after and each.after.acts))
    names = sorted({each.policy for each in acted if each.acts})
    idle = [name for name in names if modes.get(name, PolicyMode.ACTIVE) is not PolicyMode.ACTIVE]
    if idle:
        again = f": {_KEEP}" if tried.from_files else ""
        one = len(idle) == 1
        yield (
            f"{first_few(idle, MOST_NAMES)} acted then, and in {tried.where} {'it is' if one else 'they are'} in shadow"
            f" or off and {'does' if one else 'do'} nothing{again}"
        )
