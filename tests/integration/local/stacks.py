"""Small hand-written stacks for the tests of the embedded AWS."""

import itertools
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from local.aws.deploy import deploy
from local.aws.server import EmbeddedAws

PATIENCE_SECONDS = 60.0  # on a machine that others load, a worker may take many of them to begin
HANDLERS = Path(__file__).resolve().parents[2] / "data/local/handlers"
_numbers = itertools.count(1)

T = TypeVar("T")
Resources = Mapping[str, Mapping[str, Any]]


def assembly(folder: Path, stack: str, resources: Resources, outputs: Mapping[str, Any] | None = None) -> Path:
    """An assembly as the CDK writes it: a template and its assets, the handlers as code under the key `code.zip`."""
    values = outputs if outputs is not None else {name: {"Ref": name} for name in resources}
    template = {
        "Resources": resources,
        "Outputs": {name: {"Value": value} for name, value in values.items()},
        "Parameters": {"BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/boot/version"}},
    }
    destination = {"bucketName": "assets-${AWS::AccountId}-${AWS::Region}", "objectKey": "code.zip"}
    code = folder / "asset.handlers"
    if not code.exists():
        code.symlink_to(HANDLERS)
    manifest = {
        "files": {
            "code": {
                "source": {"path": code.name, "packaging": "zip"},
                "destinations": {"current": destination},
            }
        }
    }
    (folder / f"{stack}.template.json").write_text(json.dumps(template))
    (folder / f"{stack}.assets.json").write_text(json.dumps(manifest))
    return folder


def role(*statements: Mapping[str, Any], service: str = "lambda") -> dict[str, Any]:
    """A role with one inline policy."""
    trust = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
    return {
        "Type": "AWS::IAM::Role",
        "Properties": {
            "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
            "Policies": [
                {"PolicyName": "own", "PolicyDocument": {"Version": "2012-10-17", "Statement": list(statements)}}
            ],
        },
    }


def function(handler: str, out: Path, *, timeout: int = 60, **more: Any) -> dict[str, Any]:
    """A function of tests/data/local/handlers under the role with the logical id `Role`."""
    environment = {"OUT_FILE": str(out), **more.pop("environment", {})}
    return {
        "Type": "AWS::Lambda::Function",
        "Properties": {
            "Code": {"S3Bucket": {"Fn::Sub": "assets-${AWS::AccountId}-${AWS::Region}"}, "S3Key": "code.zip"},
            "Handler": handler,
            "Runtime": "python3.14",
            "Role": {"Fn::GetAtt": ["Role", "Arn"]},
            "Timeout": timeout,
            "Environment": {"Variables": environment},
            **more,
        },
    }


def mapping(source: Any, **properties: Any) -> dict[str, Any]:
    """An event source mapping of the function with the logical id `Function`."""
    return {
        "Type": "AWS::Lambda::EventSourceMapping",
        "Properties": {"EventSourceArn": source, "FunctionName": {"Ref": "Function"}, **properties},
    }


def arn(logical_id: str) -> dict[str, Any]:
    return {"Fn::GetAtt": [logical_id, "Arn"]}


@dataclass(frozen=True)
class Stack:
    """A deployed stack: its outputs, and the file that its handlers write to."""

    aws: EmbeddedAws
    name: str
    outputs: Mapping[str, str]
    out: Path

    def client(self, service: str) -> Any:
        return self.aws.client(service)

    def notes(self) -> list[dict[str, Any]]:
        """What the handlers noted so far, oldest first."""
        return [json.loads(line) for line in self.out.read_text().splitlines()] if self.out.exists() else []

    def batches(self) -> list[list[Any]]:
        """The ids of each batch so far."""
        return [note["ids"] for note in self.notes() if "ids" in note]

    def ids(self) -> list[Any]:
        """All ids so far, in order of arrival."""
        return [identifier for batch in self.batches() for identifier in batch]


def launch(aws: EmbeddedAws, folder: Path, resources: Resources, outputs: Mapping[str, Any] | None = None) -> Stack:
    """Deploy resources as a stack of their own."""
    name = f"Test{next(_numbers)}{folder.name.replace('_', '')[:20]}"
    values = deploy(aws, assembly=assembly(folder, name, resources, outputs), stack=name)
    return Stack(aws, name, values, folder / "out.jsonl")


def eventually(look: Callable[[], T], *, within: float = PATIENCE_SECONDS) -> T:
    """What `look` says as soon as it is true; fails with its last word."""
    deadline = time.monotonic() + within
    while not (value := look()):
        assert time.monotonic() < deadline, f"not within {within} s; last: {value!r}"
        time.sleep(0.01)
    return value


def received(stack: Stack, queue: str = "Queue", **more: Any) -> list[dict[str, Any]]:
    """The next messages of a queue, as soon as there are any."""
    sqs, url = stack.client("sqs"), stack.outputs[queue]

    def look() -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=10, **more).get("Messages")
        return messages

    return eventually(look)
