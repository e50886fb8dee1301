"""EventBridge rules with all that belongs to one: target, retries, dead letters, and the policies that let it deliver.

Written on the resources themselves, since CDK's targets give a topic's policy no SourceArn. It must not know what a
rule is for.
"""

from collections.abc import Mapping
from typing import Any

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

# EventBridge's own defaults and maxima, written down: 24 hours and 185 attempts.
_RETRY = events.CfnRule.RetryPolicyProperty(maximum_event_age_in_seconds=86_400, maximum_retry_attempts=185)
_SERVICE = "events.amazonaws.com"


class Rule(Construct):
    """One rule with one target. Give it a *pattern* or a *schedule*; ``arn`` names it in policies."""

    def __init__(  # noqa: PLR0913 - a rule is what it matches and where it goes, each with few words
        self,
        scope: Construct,
        construct_id: str,
        *,
        description: str,
        target_arn: str,
        undelivered: sqs.Queue,
        pattern: Mapping[str, Any] | None = None,
        schedule: str | None = None,
        bus: events.EventBus | None = None,
        transformer: events.CfnRule.InputTransformerProperty | None = None,
    ) -> None:
        """Create the rule and let it leave what it cannot deliver in *undelivered*."""
        super().__init__(scope, construct_id)
        self.arn = events.CfnRule(
            self,
            "Rule",
            description=f"Relight: {description}",
            event_bus_name=bus.event_bus_name if bus else None,
            event_pattern=pattern,
            schedule_expression=schedule,
            targets=[
                events.CfnRule.TargetProperty(
                    id="target",
                    arn=target_arn,
                    input_transformer=transformer,
                    retry_policy=_RETRY,
                    dead_letter_config=events.CfnRule.DeadLetterConfigProperty(arn=undelivered.queue_arn),
                )
            ],
        ).attr_arn
        self.may_send_to(undelivered)

    def may_send_to(self, queue: sqs.Queue) -> None:
        """Let this rule, and no other, send to *queue*."""
        queue.add_to_resource_policy(
            iam.PolicyStatement(
                sid=f"{self.node.id}Sends",
                principals=[iam.ServicePrincipal(_SERVICE)],
                actions=["sqs:SendMessage"],
                resources=[queue.queue_arn],
                conditions={"ArnEquals": {"aws:SourceArn": self.arn}},
            )
        )

    def may_invoke(self, function: lambda_.Function) -> None:
        """Let this rule, and no other, invoke *function*."""
        lambda_.CfnPermission(
            self,
            "Permission",
            action="lambda:InvokeFunction",
            function_name=function.function_arn,
            principal=_SERVICE,
            source_arn=self.arn,
        )
