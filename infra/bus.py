"""The bus `relight`: what Relight tells the world, and which of it reaches people.

Decides which changes of incidents and policies are alerts and how one reads. It must not know how an event is made
(`functions/outbox` does).
"""

from aws_cdk import aws_events as events
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.alerts import Alerts
from infra.buckets import DROPPED_PREFIX, Buckets
from infra.rules import Rule

SOURCE = "relight"
# What a person wants to hear of, as coordinate marked it; the steps between are on the bus for programs.
ALERTING = ("notify", "page")
# What types of announcements begin with: `functions/outbox` makes them.
INCIDENT_TYPES, POLICY_TYPES = "Incident ", "Polic"


class Bus(Construct):
    """The bus and the rules to the alerts topic; what cannot be delivered comes to rest in *undelivered*."""

    def __init__(
        self, scope: Construct, construct_id: str, alerts: Alerts, buckets: Buckets, undelivered: sqs.Queue
    ) -> None:
        """Create bus and rules."""
        super().__init__(scope, construct_id)
        self.bus = events.EventBus(self, "Bus", description="Relight: changes of incidents and policies")
        topic = alerts.topic.topic_arn
        alerting = Rule(
            self,
            "Alerting",
            description="changes of incidents that a person wants to hear of",
            bus=self.bus,
            pattern={
                "source": [SOURCE],
                "detail-type": [{"prefix": INCIDENT_TYPES}],
                "detail": {"alert": list(ALERTING)},
            },
            target_arn=topic,
            undelivered=undelivered,
            transformer=_sentence(
                "<type> in <cluster>: <text> (incident <incident>)",
                type="$.detail-type",
                cluster="$.detail.cluster",
                text="$.detail.text",
                incident="$.detail.incident",
            ),
        )
        edited = Rule(
            self,
            "Edited",
            description="edits of policies that a person wants to hear of: refused, deleted, stopped",
            bus=self.bus,
            pattern={
                "source": [SOURCE],
                "detail-type": [{"prefix": POLICY_TYPES}],
                "detail": {"alert": list(ALERTING)},
            },
            target_arn=topic,
            undelivered=undelivered,
            transformer=_sentence("<type>: <text>", type="$.detail-type", text="$.detail.text"),
        )
        dropped = Rule(
            self,
            "Dropped",
            description="a mapping gave a batch up and put it into the rejects bucket",
            pattern={
                "source": ["aws.s3"],
                "detail-type": ["Object Created"],
                "detail": {
                    "bucket": {"name": [buckets.rejects.bucket_name]},
                    "object": {"key": [{"prefix": DROPPED_PREFIX}]},
                },
            },
            target_arn=topic,
            undelivered=undelivered,
            transformer=_sentence(
                "A batch was given up after all its attempts and lies in s3://<bucket>/<key> with its payload. "
                "Look with: relight dlq list",
                bucket="$.detail.bucket.name",
                key="$.detail.object.key",
            ),
        )
        alerts.let_in_rule(alerting)
        alerts.let_in_rule(edited)
        alerts.let_in_rule(dropped)


def _sentence(template: str, **paths: str) -> events.CfnRule.InputTransformerProperty:
    """Return a transformer whose output is one JSON string: what a mail shows."""
    return events.CfnRule.InputTransformerProperty(input_template=f'"{template}"', input_paths_map=paths)
