"""What stands around the code of the Lambdas in a replay: one thread, and remarks that do not grow.

It must not decide anything.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

_MOST_REMARKS = 50  # about one cluster
P = ParamSpec("P")
T = TypeVar("T")


class OneThread(Executor):
    """Does at once what it is handed, so that a replay is the same each time."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Return the future of what is done already."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - handed on, as a pool does
            future.set_exception(error)
        return future

    def map(
        self, fn: Callable[..., T], *iterables: Iterable[Any], timeout: float | None = None, chunksize: int = 1
    ) -> Iterator[T]:
        """Return what *fn* answers, without a future for each."""
        del timeout, chunksize  # nothing here waits
        return map(fn, *iterables)


class Remarks:
    """A `Telemetry` that keeps of remarks each text once, with how often it was made.

    They are kept by what they are ``about``, a cluster: one that has much to remark takes no room of another's.
    """

    def __init__(self) -> None:
        """Start with nothing told."""
        self.told: dict[str, Counter[str]] = {}
        self.about = ""

    def count(self, metric: str, value: float = 1) -> None:
        """What a replay counts is counted by `Nodes`, from what was judged."""

    def measure_seconds(self, metric: str, seconds: float) -> None:
        """Durations of a replay say nothing of the real thing."""

    def warn(self, message: str, /, **fields: Any) -> None:  # noqa: ANN401 - see the port
        """See the port."""
        text = f"{message} {fields.get('policy') or fields.get('record') or ''} {fields.get('reason', '')}".strip()
        told = self.told.setdefault(self.about, Counter())
        if text in told or len(told) < _MOST_REMARKS:
            told[text] += 1


class About:
    """A `Telemetry` that hands on to *remarks* what is about *cluster*."""

    def __init__(self, remarks: Remarks, cluster: str) -> None:
        """Keep both."""
        self._remarks = remarks
        self._cluster = cluster

    def count(self, metric: str, value: float = 1) -> None:
        """See `Remarks`."""

    def measure_seconds(self, metric: str, seconds: float) -> None:
        """See `Remarks`."""

    def warn(self, message: str, /, **fields: Any) -> None:  # noqa: ANN401 - see the port
        """See the port."""
        self._remarks.about = self._cluster
        self._remarks.warn(message, **fields)
