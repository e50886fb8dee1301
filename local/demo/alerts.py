"""The alerts that people would get: a queue subscribed to the topic, as a pager or a chat would be."""

import json

from local.aws.server import EmbeddedAws

_QUEUE = "demo-pager"


class Pager:
    """Subscribes at once; `read` returns all texts so far."""

    def __init__(self, aws: EmbeddedAws, topic_arn: str) -> None:
        self._sqs = aws.client("sqs")
        self._url = self._sqs.create_queue(QueueName=_QUEUE)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        arn = attributes["Attributes"]["QueueArn"]
        aws.client("sns").subscribe(TopicArn=topic_arn, Protocol="sqs", Endpoint=arn)
        self._texts: list[str] = []

    def read(self) -> list[str]:
        """The texts of all alerts, in the order in which they came."""
        while messages := self._receive():
            for message in messages:
                body = json.loads(message["Body"])
                self._texts.append(str(body.get("Message", "")).strip('"'))
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return list(self._texts)

    def _receive(self) -> list[dict[str, str]]:
        answer = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10, WaitTimeSeconds=0)
        found: list[dict[str, str]] = answer.get("Messages", [])
        return found
