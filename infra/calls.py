"""Who calls DynamoDB to write policies: from CloudTrail into the queue of `functions/callers`, where it is asked for.

Decides what a trail of our own records and which events are taken in. Whose edit that was is for others to say.
"""

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_cloudtrail as cloudtrail
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.lanes import Lanes
from infra.rules import Rule

_SERVICE = "cloudtrail.amazonaws.com"


class Calls(Construct):
    """The rule; and the trail with its bucket, unless a trail that records writes to the table is there already."""

    def __init__(
        self, scope: Construct, construct_id: str, *, lanes: Lanes, table: dynamodb.Table, bucket: s3.Bucket | None
    ) -> None:
        """Create the rule, and a trail into *bucket* if there is one."""
        super().__init__(scope, construct_id)
        assert lanes.calls is not None
        if bucket:
            self._trail(table, bucket)
        rule = Rule(
            self,
            "Writes",
            description="calls that wrote policies, as CloudTrail saw them",
            # By the table's ARN, which each of DynamoDB's data events has: transactions and PartiQL have no tableName
            # among their parameters (DynamoDB developer guide, "Understanding DynamoDB log file entries").
            pattern={
                "source": ["aws.dynamodb"],
                "detail-type": ["AWS API Call via CloudTrail"],
                "detail": {
                    "eventSource": ["dynamodb.amazonaws.com"],
                    "readOnly": [False],
                    "resources": {"ARN": [table.table_arn]},
                },
            },
            target_arn=lanes.calls.queue_arn,
            undelivered=lanes.undelivered,
        )
        rule.may_send_to(lanes.calls)

    def _trail(self, table: dynamodb.Table, bucket: s3.Bucket) -> None:
        """Record the data events of one table that write, and no management events: those cost nobody a second copy."""
        # The bucket's policy names it and is there before it, so CloudFormation cannot choose the name.
        name = f"{Stack.of(self).stack_name}-policy-writes"
        policy = self._let_in(bucket, name)
        trail = cloudtrail.CfnTrail(
            self,
            "Trail",
            trail_name=name,
            s3_bucket_name=bucket.bucket_name,
            is_logging=True,
            is_multi_region_trail=False,
            include_global_service_events=False,
            enable_log_file_validation=True,
            advanced_event_selectors=[
                cloudtrail.CfnTrail.AdvancedEventSelectorProperty(
                    name="writes to the policies table",
                    field_selectors=[
                        _equal("eventCategory", "Data"),
                        _equal("resources.type", "AWS::DynamoDB::Table"),
                        _equal("resources.ARN", table.table_arn),
                        _equal("readOnly", "false"),
                    ],
                )
            ],
        )
        if policy:
            trail.node.add_dependency(policy)

    def _let_in(self, bucket: s3.Bucket, trail: str) -> s3.BucketPolicy | None:
        """Let this trail, and no other, write (CloudTrail user guide, "Amazon S3 bucket policy for CloudTrail")."""
        stack = Stack.of(self)
        arn = stack.format_arn(
            service="cloudtrail", resource="trail", resource_name=trail, arn_format=ArnFormat.SLASH_RESOURCE_NAME
        )
        ours: dict[str, str] = {"aws:SourceArn": arn}
        who = [iam.ServicePrincipal(_SERVICE)]
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="TrailLooks",
                principals=who,
                actions=["s3:GetBucketAcl"],
                resources=[bucket.bucket_arn],
                conditions={"StringEquals": ours},
            )
        )
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="TrailWrites",
                principals=who,
                actions=["s3:PutObject"],
                resources=[bucket.arn_for_objects(f"AWSLogs/{stack.account}/*")],
                conditions={"StringEquals": {**ours, "s3:x-amz-acl": "bucket-owner-full-control"}},
            )
        )
        return bucket.policy


def _equal(field: str, value: str) -> cloudtrail.CfnTrail.AdvancedFieldSelectorProperty:
    return cloudtrail.CfnTrail.AdvancedFieldSelectorProperty(field=field, equal_to=[value])
