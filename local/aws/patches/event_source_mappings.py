"""Mappings are served by our own pollers.

moto calls the function inside the put, one record at a time, with no order, retry, bisect, window or failure target.
"""

from typing import Any

from moto.awslambda.models import EventSourceMapping, LambdaBackend

from local.aws import backends
from local.aws.bells import Bells
from local.aws.clock import Clock
from local.aws.errors import UnsupportedError
from local.aws.event_sources import dynamodb_streams, kinesis, sqs
from local.aws.event_sources.mapping import ActiveMapping
from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.patches.replacing import replace
from local.aws.recorder import Recorder

_WINDOW = "MaximumBatchingWindowInSeconds"
_STARTERS = {"kinesis": kinesis.start, "dynamodb": dynamodb_streams.start, "sqs": sqs.start}


_new_mapping: Any = EventSourceMapping  # abstract on paper: moto itself leaves methods out


def apply(*, runtime: LambdaRuntime, recorder: Recorder, bells: Bells, clock: Clock) -> None:
    """A created mapping starts its poller, and moto's own hooks in the sources stay empty."""

    def create(self: Any, spec: dict[str, Any]) -> Any:
        function = self.get_function(spec["FunctionName"])
        arn = spec["EventSourceArn"]
        service = backends.service_of(arn)
        if service not in _STARTERS:
            raise UnsupportedError(f"{service} is not represented as an event source in the embedded AWS")
        _source_exists(service, arn)
        spec |= {"RegionName": self.region_name, "AccountId": self.account_id, "FunctionArn": function.function_arn}
        esm = _new_mapping(spec)
        self._event_source_mappings[esm.uuid] = esm
        mapping = ActiveMapping(esm, _in_real_time(spec, clock), runtime, recorder, bells.of(arn))
        try:
            _STARTERS[service](mapping)
        except Exception:
            del self._event_source_mappings[esm.uuid]
            raise
        return esm

    replace(LambdaBackend, "create_event_source_mapping", create)


def _in_real_time(spec: dict[str, Any], clock: Clock) -> dict[str, Any]:
    """The properties as they are served: a batching window only passes time."""
    return {**spec, _WINDOW: clock.real_seconds(float(spec.get(_WINDOW) or 0))}


def _source_exists(service: str, arn: str) -> None:
    find = {"kinesis": backends.stream, "dynamodb": backends.table_of_stream, "sqs": backends.queue}
    find[service](arn)
