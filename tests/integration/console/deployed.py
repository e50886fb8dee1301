"""The deployed stack and `relight` on it, as the tests of this folder speak of them."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from console import main as console
from local.aws.server import EmbeddedAws

ON_CALL = "on-call"  # as whom `relight` speaks to AWS, so that its calls can be told from those of the tests


@dataclass(frozen=True)
class Deployed:
    """The stack and its outputs. Seconds are real ones: the sweep's first minute is not over before the tests are."""

    aws: EmbeddedAws
    outputs: dict[str, str]

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3's clients are made at run time
        return self.aws.client(service)

    def put(self, data: bytes, key: str) -> None:
        self.client("kinesis").put_record(StreamName=self.outputs["FaultsStream"], Data=data, PartitionKey=key)

    def knows_node(self, instance: str) -> bool:
        """Whether triage has taken an event of this node and committed its window."""
        key = {"pk": {"S": "CLUSTER#training"}, "sk": {"S": f"NODE#{instance}#window"}}
        found = self.client("dynamodb").get_item(TableName=self.outputs["FleetTable"], Key=key, ConsistentRead=True)
        return "Item" in found

    def dead_letters_of(self, output: str) -> str:
        """Return the URL of the dead-letter queue of the queue in this output."""
        sqs = self.client("sqs")
        told = sqs.get_queue_attributes(QueueUrl=self.outputs[output], AttributeNames=["RedrivePolicy"])
        arn = json.loads(told["Attributes"]["RedrivePolicy"])["deadLetterTargetArn"]
        url: str = sqs.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
        return url


@dataclass(frozen=True)
class Relight:
    """Runs `relight` as a person does, against the embedded AWS."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *words: str) -> tuple[int, str]:
        self.capsys.readouterr()
        status = console.main(words)
        return status, self.capsys.readouterr().out

    def json(self, *words: str) -> tuple[int, dict[str, Any]]:
        status, shown = self(*words, "--json")
        document: dict[str, Any] = json.loads(shown)
        return status, document
