"""A batch of SQS records as messages by cluster, and the answer that sends single records back.

A record that is no message fails alone: it comes back until the queue gives it to its dead letters. It must not know
what a message means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from functions.ports.triage import Telemetry
from policies.contract.decisions import AnyMessage, parse_message
from policies.contract.errors import BadInputError


@dataclass(frozen=True)
class Delivery:
    """One message with the id of the record that brought it."""

    record_id: str
    message: AnyMessage


def sort_records(
    records: Iterable[Mapping[str, Any]], telemetry: Telemetry
) -> tuple[dict[str, list[Delivery]], list[str]]:
    """Return the deliveries by cluster, in their order, and the ids of the records that are no messages."""
    by_cluster: dict[str, list[Delivery]] = {}
    bad: list[str] = []
    for record in records:
        try:
            delivery = Delivery(record["messageId"], parse_message(record["body"]))
        except BadInputError as error:
            telemetry.warn("A record is no message.", record=record["messageId"], reason=str(error))
            bad.append(record["messageId"])
        else:
            by_cluster.setdefault(delivery.message.cluster, []).append(delivery)
    return by_cluster, bad


def failures(record_ids: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Return what tells the mapping which records to bring again (ReportBatchItemFailures)."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in record_ids]}
