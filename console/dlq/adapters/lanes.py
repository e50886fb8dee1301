"""Where things are sent again: the stream, and whoever missed a delivery."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from console.dlq.adapters.asking import asking
from console.dlq.model import DlqError

if TYPE_CHECKING:
    from types_boto3_kinesis import KinesisClient
    from types_boto3_lambda import LambdaClient
    from types_boto3_sns import SNSClient
    from types_boto3_sqs import SQSClient


class KinesisStream:
    """See `console/dlq/ports.py`. PutRecord, since PutRecords keeps no order."""

    def __init__(self, client: "KinesisClient", stream: str) -> None:
        """Put on *stream* (its name)."""
        self._client = client
        self._stream = stream

    def put(self, key: str, data: bytes, *, after: str = "") -> str:
        """See the port."""
        order: Any = {"SequenceNumberForOrdering": after} if after else {}
        with asking("putting a record on the stream"):
            answer = self._client.put_record(StreamName=self._stream, PartitionKey=key, Data=data, **order)
        return answer["SequenceNumber"]


class AwsTargets:
    """See `console/dlq/ports.py`."""

    def __init__(self, sqs: "SQSClient", sns: "SNSClient", lambda_: "LambdaClient") -> None:
        """Deliver through these."""
        self._sqs = sqs
        self._sns = sns
        self._lambda = lambda_

    def deliver(self, target: str, body: str) -> None:
        """See the port."""
        service = target.split(":")[2] if target.startswith("arn:") else "lambda"
        if service == "sqs":
            name = target.rpartition(":")[2]
            with asking(f"sending to {name}"):
                url = self._sqs.get_queue_url(QueueName=name)["QueueUrl"]
                self._sqs.send_message(QueueUrl=url, MessageBody=body)
        elif service == "sns":
            with asking("publishing an alert"):
                self._sns.publish(TopicArn=target, Message=body)
        elif service == "lambda":
            with asking(f"invoking {target}"):
                self._lambda.invoke(FunctionName=target, InvocationType="Event", Payload=body.encode())
        else:
            raise DlqError(f"it was for {target}, which is no queue, topic or function.", hint="Send it by hand.")

    def call(self, function: str, event: Mapping[str, object]) -> Sequence[str]:
        """See the port."""
        with asking(f"invoking {function}"):
            answer = self._lambda.invoke(FunctionName=function, Payload=json.dumps(event).encode())
            told = answer["Payload"].read()
        if answer.get("FunctionError"):
            reason = told[:300].decode("utf-8", "replace")
            raise DlqError(f"the function failed again: {reason}", hint="Mend the cause first; its log says more.")
        response = json.loads(told or b"null")
        failures = response.get("batchItemFailures") or [] if isinstance(response, dict) else []
        return [str(failure.get("itemIdentifier")) for failure in failures]
