"""Who is told: one topic for alarms and incidents, and the key it is encrypted with.

Decides who may publish. It must not know what is worth an alert (`alarms.py` and `bus.py` do).
"""

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from constructs import Construct

from infra.rules import Rule

_USE_KEY = ["kms:GenerateDataKey*", "kms:Decrypt"]
_COLON = ArnFormat.COLON_RESOURCE_NAME


class Alerts(Construct):
    """The topic `alerts`. A topic with a policy of its own lets in exactly those that the policy names."""

    def __init__(self, scope: Construct, construct_id: str, email: str | None) -> None:
        """Create key and topic, let this account's alarms publish, and subscribe *email*."""
        super().__init__(scope, construct_id)
        stack = Stack.of(self)
        self.key = kms.Key(
            self,
            "Key",
            description="Relight: encrypts the alerts topic",
            enable_key_rotation=True,
            removal_policy=RemovalPolicy.DESTROY,  # it holds no data: SNS keeps no message
        )
        self.topic = sns.Topic(self, "Topic", master_key=self.key, enforce_ssl=True, display_name="Relight")
        alarms = stack.format_arn(service="cloudwatch", resource="alarm", resource_name="*", arn_format=_COLON)
        self._let_in("cloudwatch.amazonaws.com", "AlarmsPublish", {"ArnLike": {"aws:SourceArn": alarms}})
        self.key.add_to_resource_policy(
            _allow("AlarmsUseTheKey", "cloudwatch.amazonaws.com", _USE_KEY, {"ArnLike": {"aws:SourceArn": alarms}})
        )
        # No condition, on purpose: "Adding the aws:SourceAccount, aws:SourceArn, and aws:SourceOrgID to a AWS KMS
        # policy is not supported for EventBridge-to-encrypted topics" (SNS developer guide, key management): every
        # alert would be lost without a word. The topic's policy is what confines EventBridge to our rules.
        self.key.add_to_resource_policy(_allow("EventsUseTheKey", "events.amazonaws.com", _USE_KEY, {}))
        if email:
            self.topic.add_subscription(subscriptions.EmailSubscription(email))

    def let_in_rule(self, rule: Rule) -> None:
        """Let one EventBridge rule publish."""
        self._let_in("events.amazonaws.com", f"{rule.node.id}Publishes", {"ArnEquals": {"aws:SourceArn": rule.arn}})

    def _let_in(self, service: str, sid: str, conditions: dict[str, dict[str, str]]) -> None:
        self.topic.add_to_resource_policy(
            _allow(sid, service, ["sns:Publish"], conditions, resource=self.topic.topic_arn)
        )


def _allow(
    sid: str, service: str, actions: list[str], conditions: dict[str, dict[str, str]], resource: str = "*"
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        principals=[iam.ServicePrincipal(service)],
        actions=actions,
        resources=[resource],
        conditions=conditions,
    )
