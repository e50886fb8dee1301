"""What botocore parsed is shared, and stays what the file says."""

import json
import subprocess
import sys
from typing import Any

import boto3
import pytest
from botocore.loaders import Loader
from moto import mock_aws

from local.aws import model_files

CALLS = {
    "dynamodb": "list_tables",
    "ec2": "describe_instances",
    "kinesis": "list_streams",
    "s3": "list_buckets",
    "sqs": "list_queues",
    "stepfunctions": "list_state_machines",
}


@pytest.fixture(autouse=True)
def parsed_once() -> None:
    model_files.parse_once()


KINDS = ("service-2", "endpoint-rule-set-1", "paginators-1")


# Not endpoints: botocore writes what it made of a service's endpoint back beside it, the same whoever asks.
FILES = ("partitions", "sdk-default-configuration")
# In a process of its own, where nobody shares anything.
READ_ALONE = """
import json, sys
from botocore.loaders import Loader
services, kinds, files = json.load(sys.stdin)
models = [[Loader().load_service_model(service, kind) for kind in kinds] for service in services]
json.dump([dict(zip(services, models)), [Loader().load_data(file) for file in files]], sys.stdout)
"""


@pytest.fixture(scope="module")
def read_alone() -> Any:
    asked = json.dumps([[*CALLS], KINDS, FILES])
    run = subprocess.run([sys.executable, "-c", READ_ALONE], input=asked, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def test_two_sessions_share_a_model_but_for_that_of_s3_which_botocore_changes() -> None:
    assert Loader().load_service_model("sqs", "service-2") is Loader().load_service_model("sqs", "service-2")
    assert Loader().load_service_model("s3", "service-2") is not Loader().load_service_model("s3", "service-2")


def test_all_services_are_known() -> None:
    assert {"dynamodb", "s3", "sagemaker"} <= set(boto3.Session().get_available_services())


@pytest.mark.parametrize("service", CALLS)
def test_calls_leave_the_model_as_it_was_and_what_moto_adds_is_its_own(service: str, read_alone: Any) -> None:
    with mock_aws():
        client: Any = boto3.Session(region_name="us-east-1").client(service)  # type: ignore[call-overload]
        getattr(client, CALLS[service])()
        if service == "s3":
            client.create_bucket(Bucket="one")
            client.list_objects_v2(Bucket="one")
    models, files = read_alone
    assert [Loader().load_service_model(service, kind) for kind in KINDS] == models[service]
    assert [Loader().load_data(file) for file in FILES] == files


def test_what_is_parsed_ahead_asks_for_no_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name)
    model_files.parse_now(["dynamodb"])
    with mock_aws():
        assert boto3.Session().available_profiles == []
