"""An hour of log in half a minute here, in minutes by `make soak`: see `soak`."""

import os
from pathlib import Path

from tests.soak.soak import Soak

SECONDS = float(os.environ.get("RELIGHT_SOAK_SECONDS", "35"))
GROWTH_MIB = 3.0
MOST_MIB = 80.0 + 20.0  # the agent's, and what stands for journalctl is a Python process of its own


def test_an_hour_of_log_loses_and_repeats_nothing(tmp_path: Path) -> None:
    books = Soak(tmp_path, SECONDS, tell=print).run()
    print(
        f"{books.lines} lines, {books.events} events in {books.envelopes} envelopes; {books.kills} kills, "
        f"{books.cuts} turns without a network, {books.rotations} rotations; {max(books.resident):.1f} MiB"
    )
    if books.lost() or books.repeated():
        print(books.lost(), books.repeated())
    assert books.contradictions == []
    assert books.lost() == {}
    assert books.repeated() == {}
    assert [one for one, count in books.ids.items() if count > 1] == []
    assert (books.kills > 0, books.cuts > 0, books.rotations > 0) == (True, True, True)
    assert books.growth() < GROWTH_MIB
    assert max(books.resident) < MOST_MIB
