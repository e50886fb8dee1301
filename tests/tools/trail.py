"""Events of CloudTrail as EventBridge hands them on, in the form of the DynamoDB developer guide's examples."""

import json
from datetime import datetime
from typing import Any

from policies.contract.times import format_time

ACCOUNT = "111122223333"
TABLE = "arn:aws:dynamodb:us-east-1:111122223333:table/policies"


def session(
    name: str = "kim@example.com", role: str = "AWSReservedSSO_Admin_0123456789abcdef", account: str = ACCOUNT
) -> dict[str, Any]:
    """Return the identity of an assumed role, of IAM Identity Center by default."""
    return {
        "type": "AssumedRole",
        "principalId": f"AROAIDPPEZS35WEXAMPLE:{name}",
        "arn": f"arn:aws:sts::{account}:assumed-role/{role}/{name}",
        "accountId": account,
        "accessKeyId": "ASIAIOSFODNN7EXAMPLE",
        "sessionContext": {
            "sessionIssuer": {
                "type": "Role",
                "principalId": "AROAIDPPEZS35WEXAMPLE",
                "arn": f"arn:aws:iam::{account}:role/{role}",
                "accountId": account,
                "userName": role,
            },
            "attributes": {"creationDate": "2026-11-30T01:00:00Z", "mfaAuthenticated": "false"},
        },
    }


def detail(at: datetime, policy: str, identity: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of an event
    """Return the record of one PutItem on a `live` item in AWS's console; *more* replaces fields of it."""
    return {
        "eventVersion": "1.11",
        "userIdentity": session() if identity is None else identity,
        "eventTime": f"{format_time(at)[:19]}Z",
        "eventSource": "dynamodb.amazonaws.com",
        "eventName": "PutItem",
        "awsRegion": "us-east-1",
        "sourceIPAddress": "192.0.2.7",
        "userAgent": "Mozilla/5.0",
        "requestParameters": {
            "tableName": "policies",
            "key": {"name": policy, "sk": "live"},
            "item": ["name", "sk", "mode", "why"],
        },
        "responseElements": None,
        "requestID": "4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG",
        "eventID": f"call-{format_time(at)}-{policy}",
        "readOnly": False,
        "resources": [{"accountId": ACCOUNT, "type": "AWS::DynamoDB::Table", "ARN": TABLE}],
        "eventType": "AwsApiCall",
        "managementEvent": False,
        "recipientAccountId": ACCOUNT,
        "eventCategory": "Data",
        "sessionCredentialFromConsole": "true",
        **more,
    }


def body(record: dict[str, Any]) -> str:
    """Return *record* as a message of the queue."""
    event = {"detail-type": "AWS API Call via CloudTrail", "source": "aws.dynamodb", "account": ACCOUNT}
    return json.dumps({"version": "0", **event, "detail": record})
