"""Independent calls side by side: each one's error is kept, none stops another.

It must not know what the calls do.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor

Call = Callable[[], object]
# A batch of ten findings has ten starts, ten histories and the faults of the hour to write, and then ten timelines.
WORKERS = 24


def run_all(pool: Executor, calls: Sequence[Call]) -> list[Exception | None]:
    """Run *calls*, return the error of each or None, in their order. One call runs here, without a thread."""
    if not calls:
        return []
    if len(calls) == 1:
        return [_caught(calls[0])]
    return list(pool.map(_caught, calls))


def _caught(call: Call) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - handed to the caller, who knows what it means
        return error
    return None
