"""One page for the person on call: is the pipeline alive, does it keep up, what is put aside, what does it do.

It must not decide anything: thresholds are in `alarms.py`.
"""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import metrics
from infra.lanes import Lanes

_HALF = 12
_WHOLE = 24


class Dashboard(Construct):
    """The dashboard, from the question asked first to the one asked last."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        alarms: Sequence[cloudwatch.Alarm],
        lanes: Lanes,
        functions: Mapping[str, lambda_.Function],
        machine_arn: str,
    ) -> None:
        """Create it."""
        super().__init__(scope, construct_id)
        triage = functions["Triage"]
        ages = [
            queue.metric_approximate_age_of_oldest_message(period=metrics.MINUTE) for queue in lanes.working.values()
        ]
        dead = [
            queue.metric_approximate_number_of_messages_visible(period=metrics.MINUTE) for queue in lanes.dead.values()
        ]
        runs = [
            metrics.executions(machine_arn, f"Executions{how}")
            for how in ("Started", "Succeeded", "Failed", "TimedOut")
        ]
        put_aside = [
            metrics.own(name) for name in (metrics.REJECTED_RECORDS, metrics.REJECTED_POLICIES, metrics.LOST_EVENTS)
        ]
        archived = (metrics.ARCHIVED_RECORDS, metrics.ARCHIVED_OBJECTS)
        ages_of_incidents = [
            metrics.own(name, "Maximum") for name in (metrics.OLDEST_INCIDENT, metrics.LONGEST_OVERDUE)
        ]
        cloudwatch.Dashboard(
            self,
            "Dashboard",
            widgets=[
                [cloudwatch.AlarmStatusWidget(title="Alarms", alarms=list(alarms), width=_WHOLE)],
                [
                    _graph("Events in", [lanes.faults.metric_incoming_records(period=metrics.MINUTE)]),
                    _graph("Canary: one a minute", [metrics.own(metrics.CANARIES)]),
                ],
                [
                    _graph("Age of the stream, ms", [triage.metric("IteratorAge", statistic="Maximum")]),
                    _graph("Age of queues, s", ages),
                ],
                [_graph("Dead letters", dead), _graph("Rejected and lost", put_aside)],
                [_graph("handle-incident", runs), _graph("Running incidents: oldest, overdue, s", ages_of_incidents)],
                [
                    _graph("Archive: records, objects", [metrics.own(name) for name in archived]),
                    _graph("Archive: age, ms", [functions["Archive"].metric("IteratorAge", statistic="Maximum")]),
                ],
                [_graph("Errors", [it.metric_errors() for it in functions.values()])],
            ],
        )


def _graph(title: str, left: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, left=list(left), width=_HALF)
