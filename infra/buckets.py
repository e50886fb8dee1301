"""Archive, evidence, rejects, and who touched them: four buckets that outlive the stack.

Decides retention and protection. It must not know what is written into them.
"""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from infra.settings import Deployment

# Where a mapping puts a batch it gave up (Lambda developer guide, "Retain discarded records in S3").
DROPPED_PREFIX = "aws/lambda/"
TRAIL_DAYS = 400  # who edited stands beside the policies for ever; this is the rest of it, such as addresses


class Buckets(Construct):
    """archive: every event. evidence: by incident. rejects: what could not be used, with the payload.

    trail: what CloudTrail saw of writes to policies, where the stack makes a trail.
    """

    def __init__(self, scope: Construct, construct_id: str, deployment: Deployment) -> None:
        """Create the buckets; none is public, none speaks without TLS."""
        super().__init__(scope, construct_id)
        # The receiver of access logs has none of its own: they would log themselves.
        self.access_logs = self._bucket("AccessLogs", days=90, versioned=False)
        self.archive = self._bucket(
            "Archive",
            days=deployment.archive_retention_days,
            logs="archive/",
            cheaper_after=deployment.archive_cheaper_after_days,
        )
        self.evidence = self._bucket("Evidence", days=deployment.evidence_retention_days, logs="evidence/")
        self.rejects = self._bucket("Rejects", days=deployment.rejects_retention_days, logs="rejects/")
        own_trail = deployment.policy_trail == "own"
        self.trail = self._bucket("Trail", days=TRAIL_DAYS, logs="trail/") if own_trail else None
        self._announce(self.rejects)

    def _bucket(
        self,
        name: str,
        *,
        days: int,
        versioned: bool = True,
        logs: str | None = None,
        cheaper_after: int | None = None,
    ) -> s3.Bucket:
        return s3.Bucket(
            self,
            name,
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            versioned=versioned,
            lifecycle_rules=[_lifecycle(days, versioned=versioned, cheaper_after=cheaper_after)],
            server_access_logs_bucket=self.access_logs if logs else None,
            server_access_logs_prefix=logs,
            removal_policy=RemovalPolicy.RETAIN,
        )

    @staticmethod
    def _announce(bucket: s3.Bucket) -> None:
        """Let EventBridge hear of new objects, set on the resource itself: the L2 way adds a Lambda of CDK's own."""
        resource = bucket.node.default_child
        assert isinstance(resource, s3.CfnBucket)
        resource.notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(event_bridge_enabled=True)
        )


def _lifecycle(days: int, *, versioned: bool, cheaper_after: int | None) -> s3.LifecycleRule:
    # What is read rarely, and as quickly then. Objects under 128 KiB, which would cost more there, S3 leaves where they
    # are (S3 user guide, "Transitioning objects": the default since September 2024).
    cheaper = [
        s3.Transition(storage_class=s3.StorageClass.INFREQUENT_ACCESS, transition_after=Duration.days(after))
        for after in (cheaper_after,)
        if after is not None and after < days
    ]
    return s3.LifecycleRule(
        transitions=cheaper or None,
        expiration=Duration.days(days),
        noncurrent_version_expiration=Duration.days(30) if versioned else None,
        abort_incomplete_multipart_upload_after=Duration.days(7),
    )
