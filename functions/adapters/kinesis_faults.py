"""The faults lane on Kinesis: one record an envelope, keyed by node, so that a node's envelopes stay in order.

Decides what is tried again here and what is left to the caller's own retry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from policies.contract.envelope import Envelope
from policies.contract.errors import DependencyError

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_kinesis import KinesisClient
    from types_boto3_kinesis.type_defs import PutRecordsRequestEntryTypeDef

RECORDS_PER_CALL = 500  # Kinesis quota: PutRecords takes 500 records and 10 MiB a call
BYTES_PER_CALL = 10 * 1024 * 1024
ROUNDS = 3  # of a call some of whose records were refused; after these the caller's event comes again


class KinesisFaults:
    """See `functions/ports/faults.py`."""

    def __init__(self, client: KinesisClient, stream: str) -> None:
        """Put on *stream* (its name)."""
        self._client = client
        self._stream = stream

    def put(self, envelopes: Sequence[Envelope]) -> None:
        """See the port."""
        for call in _calls(envelopes):
            self._put(call)

    def _put(self, records: list[PutRecordsRequestEntryTypeDef]) -> None:
        left, why = records, ""
        for _ in range(ROUNDS):
            left, why = self._try(left)
            if not left:
                return
        raise DependencyError(
            f"Kinesis refused {len(left)} of {len(records)} records: {why}.", hint="Their events come again."
        )

    def _try(self, records: list[PutRecordsRequestEntryTypeDef]) -> tuple[list[PutRecordsRequestEntryTypeDef], str]:
        """Return the records that were refused, in their order, and why the first was."""
        with calling("putting envelopes on the stream"):
            answer = self._client.put_records(StreamName=self._stream, Records=records)
        pairs = zip(records, answer["Records"], strict=True)
        refused = [(record, result["ErrorCode"]) for record, result in pairs if result.get("ErrorCode")]
        return [record for record, _ in refused], refused[0][1] if refused else ""


def _calls(envelopes: Iterable[Envelope]) -> Iterator[list[PutRecordsRequestEntryTypeDef]]:
    """Cut *envelopes* into calls that Kinesis takes."""
    call: list[PutRecordsRequestEntryTypeDef] = []
    size = 0
    for envelope in envelopes:
        data, key = envelope.to_json().encode(), envelope.node.instance_id
        length = len(data) + len(key)
        if call and (len(call) == RECORDS_PER_CALL or size + length > BYTES_PER_CALL):
            yield call
            call, size = [], 0
        call.append({"Data": data, "PartitionKey": key})
        size += length
    if call:
        yield call
