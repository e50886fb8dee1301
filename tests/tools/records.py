"""Records of a FIFO queue as Lambda hands them to a function (developer guide, "Example Amazon SQS message event")."""

from typing import Any

from tests.tools.incidents import CLUSTER


def sqs_record(message_id: object, body: str, *, group: str = CLUSTER, received: int = 1) -> dict[str, Any]:
    """Return one record, as far as coordinate looks at it."""
    attributes = {"MessageGroupId": group, "ApproximateReceiveCount": str(received)}
    return {"messageId": str(message_id), "body": body, "attributes": attributes}
