"""Figures as CloudWatch metrics in the log (EMF) and remarks as JSON lines, both by Powertools.

Namespace and service come from POWERTOOLS_METRICS_NAMESPACE and POWERTOOLS_SERVICE_NAME. It must not fail the function:
what cannot be told is not told.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit

MOST_SAMPLES = 90  # EMF keeps at most 100 values of a metric in one line


class PowertoolsTelemetry:
    """See `functions/ports/triage.py`. Counters add up within one invocation."""

    def __init__(self) -> None:
        """Start with nothing to tell."""
        # Powertools raises at each flush without a namespace, and writes what CloudWatch drops under an empty one.
        self._metrics = Metrics(namespace=os.environ.get("POWERTOOLS_METRICS_NAMESPACE") or "Relight")
        self._logger = Logger()
        self._counts: dict[str, float] = {}
        self._seconds: dict[str, list[float]] = {}

    def count(self, metric: str, value: float = 1) -> None:
        """See the port."""
        self._counts[metric] = self._counts.get(metric, 0) + value

    def measure_seconds(self, metric: str, seconds: float) -> None:
        """See the port; the first `MOST_SAMPLES` of an invocation are kept."""
        samples = self._seconds.setdefault(metric, [])
        if len(samples) < MOST_SAMPLES:
            samples.append(seconds)

    def warn(self, message: str, /, **fields: Any) -> None:  # noqa: ANN401 - see the port
        """See the port."""
        self._logger.warning(message, **{f"about_{key}" if key in _TAKEN else key: one for key, one in fields.items()})

    @contextmanager
    def flushed(self) -> Iterator[None]:
        """Write what was counted inside as one line, also when the inside fails; what cannot be written is let go."""
        try:
            yield
        finally:
            counts, seconds = self._counts, self._seconds
            self._counts, self._seconds = {}, {}
            try:
                self._write(counts, seconds)
            except Exception as error:  # noqa: BLE001 - the work is done: a figure must not have it done again
                self._metrics.clear_metrics()
                with suppress(Exception):
                    self.warn("Figures could not be written.", reason=f"{type(error).__name__}: {error}")

    def _write(self, counts: dict[str, float], seconds: dict[str, list[float]]) -> None:
        for name, value in counts.items():
            self._metrics.add_metric(name=name, unit=MetricUnit.Count, value=value)
        for name, samples in seconds.items():
            for sample in samples:
                self._metrics.add_metric(name=name, unit=MetricUnit.Seconds, value=sample)
        if counts or seconds:
            self._metrics.flush_metrics()


_TAKEN = frozenset(
    {"message", "level", "location", "timestamp", "service", "exc_info", "extra", "stacklevel", "stack_info", "msg"}
)
