"""How many processes replay, where nobody said it: what a laptop can spare. It must not start any."""

import os

# A process takes 100 to 200 MiB (docs/benchmarks.md), so that four leave a laptop of 8 GiB most of it.
MOST_UNASKED = 4
# Starting one costs about a second of a processor. Some 50,000 events, packed 4 MiB, take three in all: there is hardly
# anything to gain by two.
SMALL_BYTES = 4 * 1024 * 1024


def jobs_of(asked: int | None) -> tuple[int, int]:
    """Return how many processes may share the work, and of how many bytes an archive is not worth it."""
    return (min(_processors(), MOST_UNASKED), SMALL_BYTES) if asked is None else (asked, 0)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))  # those that this process may use; macOS does not say
    except AttributeError:
        return os.cpu_count() or 1
