"""Policies on queues, topic, key and buckets: the embedded AWS takes these resources without looking at them."""

from collections.abc import Callable
from typing import Any

import pytest

Find = Callable[[str], dict[str, Any]]
INSECURE = {"Bool": {"aws:SecureTransport": "false"}}


def statements(policy: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = policy["PolicyDocument"]["Statement"]
    return found


def refused_without_tls(policy: dict[str, Any]) -> bool:
    return any(it["Effect"] == "Deny" and it.get("Condition") == INSECURE for it in statements(policy))


def policies_by_target(of_type: Find, kind: str, key: str) -> dict[str, dict[str, Any]]:
    return {
        target["Ref"]: policy
        for policy in of_type(kind).values()
        for target in (policy[key] if isinstance(policy[key], list) else [policy[key]])
    }


@pytest.mark.parametrize(
    ("kind", "policy_kind", "key"),
    [
        ("SQS::Queue", "SQS::QueuePolicy", "Queues"),
        ("S3::Bucket", "S3::BucketPolicy", "Bucket"),
        ("SNS::Topic", "SNS::TopicPolicy", "Topics"),
    ],
)
def test_every_queue_bucket_and_topic_refuses_to_speak_without_tls(
    of_type: Find, kind: str, policy_kind: str, key: str
) -> None:
    policies = policies_by_target(of_type, policy_kind, key)
    assert policies.keys() == of_type(kind).keys()
    assert [target for target, policy in policies.items() if not refused_without_tls(policy)] == []


def test_every_service_is_let_in_by_the_arn_it_comes_from(of_type: Find) -> None:
    kinds = ("SQS::QueuePolicy", "SNS::TopicPolicy")
    allowed = [
        it
        for kind in kinds
        for policy in of_type(kind).values()
        for it in statements(policy)
        if it["Effect"] == "Allow"
    ]
    assert len(allowed) > 10
    for statement in allowed:
        [conditions] = statement["Condition"].values()
        assert list(conditions) == ["aws:SourceArn"]
        assert statement["Principal"].keys() == {"Service"}


def test_every_rule_may_deliver_to_its_target_and_to_its_dead_letter_queue(of_type: Find) -> None:
    lets_in = {
        (str(source), target)
        for kind, key in (("SQS::QueuePolicy", "Queues"), ("SNS::TopicPolicy", "Topics"))
        for target, policy in policies_by_target(of_type, kind, key).items()
        for statement in statements(policy)
        for source in [statement.get("Condition", {}).get("ArnEquals", {}).get("aws:SourceArn")]
    }
    invoked = {
        (str(it["SourceArn"]), it["FunctionName"]["Fn::GetAtt"][0]) for it in of_type("Lambda::Permission").values()
    }
    rules = of_type("Events::Rule")
    assert len(rules) == 10
    for name, rule in rules.items():
        [target] = rule["Targets"]
        arn = str({"Fn::GetAtt": [name, "Arn"]})
        reached = target["Arn"].get("Ref") or target["Arn"]["Fn::GetAtt"][0]
        assert (arn, reached) in lets_in | invoked, name
        assert (arn, target["DeadLetterConfig"]["Arn"]["Fn::GetAtt"][0]) in lets_in, name


def test_the_alerts_key_lets_alarms_and_events_through(of_type: Find) -> None:
    [topic] = of_type("SNS::Topic").values()
    [(name, key)] = of_type("KMS::Key").items()
    assert topic["KmsMasterKeyId"] == {"Fn::GetAtt": [name, "Arn"]}
    assert key["EnableKeyRotation"]
    by_service = {
        it["Principal"]["Service"]: it for it in key["KeyPolicy"]["Statement"] if "Service" in it["Principal"]
    }
    assert by_service.keys() == {"cloudwatch.amazonaws.com", "events.amazonaws.com"}
    for statement in by_service.values():
        assert set(statement["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
    # SNS developer guide, key management: with a source condition EventBridge's delivery fails without a word.
    assert "Condition" not in by_service["events.amazonaws.com"]
    assert "Condition" in by_service["cloudwatch.amazonaws.com"]


def test_buckets_are_private_encrypted_and_tidy_themselves(of_type: Find) -> None:
    for bucket in of_type("S3::Bucket").values():
        assert all(bucket["PublicAccessBlockConfiguration"].values())
        assert bucket["BucketEncryption"]
        assert [rule["Status"] for rule in bucket["LifecycleConfiguration"]["Rules"]] == ["Enabled"]


def test_queues_streams_and_tables_are_encrypted_without_a_key_of_ours(of_type: Find) -> None:
    assert all(queue["SqsManagedSseEnabled"] for queue in of_type("SQS::Queue").values())
    [stream] = of_type("Kinesis::Stream").values()
    assert stream["StreamEncryption"] == {"EncryptionType": "KMS", "KeyId": "alias/aws/kinesis"}
    assert all("SSESpecification" not in table for table in of_type("DynamoDB::Table").values())
