"""Restarts of runs that nobody saw coming: ``MISSES``, one a cluster, which coordinate writes.

Decides what is one restart, and when it was a miss: no policy had found anything on a node of its run. Restarts that
were foreseen are kept as well, so that a repeat does not make a miss of them. It must not know how evidence is found.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.contract.base import Model
from policies.contract.times import Moment
from policies.precision.record import KEPT

MOST_RESTARTS = 200  # 40 KiB
# Who waits for a dead rank dies within ten minutes of it (PyTorch, ProcessGroupNCCL, default_pg_nccl_timeout): what is
# told of one run with less between is one restart.
EPISODE = timedelta(minutes=10)
MISSES_KEY = "MISSES"


class Restart(Model):
    """That a run ended as nobody wished, told of once: ``id`` is the finding's, or the incident's that a person named.

    ``foreseen``: something had been found on a node of it. ``policies`` found it too late, ``named`` are those that
    ought to have found it, by a person's word.
    """

    id: str
    job: str
    node: str
    kind: str
    at: Moment
    foreseen: bool = False
    policies: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


class Misses(Model):
    """The document: ``restarts`` is oldest first."""

    cluster: str
    version: int = 1
    restarts: tuple[Restart, ...] = ()


@dataclass(frozen=True)
class Miss:
    """One restart that nobody saw coming. ``policies`` are whose miss it is, as far as anybody knows."""

    job: str
    node: str
    kind: str
    at: datetime
    policies: tuple[str, ...]


def with_restarts(misses: Misses, restarts: Sequence[Restart], now: datetime) -> Misses:
    """Return *misses* with exactly *restarts*, as far as they are kept."""
    known = sorted((each for each in restarts if now - each.at <= KEPT), key=_worth)[-MOST_RESTARTS:]
    kept = tuple(sorted(known, key=lambda each: (each.at, each.id)))
    return misses if kept == misses.restarts else misses.model_copy(update={"restarts": kept})


def misses_of(misses: Misses | None, now: datetime) -> tuple[Miss, ...]:
    """Return the misses of 90 days, oldest first."""
    kept = (each for each in (misses.restarts if misses else ()) if now - each.at <= KEPT)
    found = (_miss(each) for each in _episodes(kept))
    return tuple(sorted(filter(None, found), key=lambda each: (each.at, each.job, each.node)))


def restarts_of(misses: Misses | None, now: datetime) -> int:
    """Return how many restarts of 90 days are known, foreseen or not."""
    return len(_episodes(each for each in (misses.restarts if misses else ()) if now - each.at <= KEPT))


def _episodes(restarts: Iterable[Restart]) -> list[list[Restart]]:
    found: list[list[Restart]] = []
    last: dict[str, list[Restart]] = {}
    for each in sorted(restarts, key=lambda each: (each.at, each.id)):
        run = each.job or each.node
        mine = last.get(run)
        if mine and each.at - mine[-1].at <= EPISODE:
            mine.append(each)
        else:
            last[run] = [each]
            found.append(last[run])
    return found


def _miss(episode: Sequence[Restart]) -> Miss | None:
    named = {name for each in episode for name in each.named}
    if not named and any(each.foreseen for each in episode):
        return None
    late = {name for each in episode for name in each.policies}
    first = episode[0]
    return Miss(first.job, first.node, first.kind, first.at, tuple(sorted(named | late)))


def _worth(restart: Restart) -> tuple[bool, datetime, str]:
    """Where there is no room for all, what was foreseen goes first, then the oldest."""
    return not restart.foreseen or bool(restart.named), restart.at, restart.id
