"""A batch of SQS records as messages by cluster, and the answer that sends single records back.

A record that is no message stands in nobody's way: it is refused alone. It must not know what a message means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from functions.coordinate.refusing import Refusal
from policies.contract.decisions import AnyMessage, parse_message
from policies.contract.errors import BadInputError


@dataclass(frozen=True)
class Delivery:
    """One message and the record that brought it."""

    record: Mapping[str, Any]
    message: AnyMessage

    @property
    def record_id(self) -> str:
        """Return the name by which the record is asked for again."""
        return str(self.record["messageId"])


def sort_records(records: Iterable[Mapping[str, Any]]) -> tuple[dict[str, list[Delivery]], list[Refusal]]:
    """Return the deliveries by cluster, in their order, and the records that are no messages."""
    by_cluster: dict[str, list[Delivery]] = {}
    refused: list[Refusal] = []
    for record in records:
        try:
            delivery = Delivery(record, parse_message(record["body"]))
        except BadInputError as error:
            refused.append(Refusal(record, error))
        else:
            by_cluster.setdefault(delivery.message.cluster, []).append(delivery)
    return by_cluster, refused


def failures(record_ids: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Return what tells the mapping which records to bring again (ReportBatchItemFailures)."""
    return {"batchItemFailures": [{"itemIdentifier": each} for each in record_ids]}
