"""Names of the metrics that alarms and dashboard look at: AWS's own, and those that functions write into their logs.

It must not know thresholds. What a function writes: namespace `Relight`, dimension `service` = the function's folder.
"""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch

from infra.functions import METRICS_NAMESPACE

MINUTE = Duration.minutes(1)
Named = tuple[str, str]  # the function's folder, and what it calls the figure

CANARIES: Named = ("triage", "CanariesSeen")
REJECTED_RECORDS: Named = ("triage", "RecordsRejected")
REJECTED_POLICIES: Named = ("guard", "PoliciesRejected")
LOST_EVENTS: Named = ("triage", "EventsLost")
ARCHIVED_RECORDS: Named = ("archive", "RecordsArchived")
ARCHIVED_OBJECTS: Named = ("archive", "ObjectsWritten")
OLDEST_INCIDENT: Named = ("coordinate", "OldestIncident")
LONGEST_OVERDUE: Named = ("coordinate", "LongestOverdue")


def own(named: Named, statistic: str = "Sum", period: Duration = MINUTE) -> cloudwatch.Metric:
    """Return a metric that a function of ours writes."""
    service, name = named
    return cloudwatch.Metric(
        namespace=METRICS_NAMESPACE,
        metric_name=name,
        dimensions_map={"service": service},
        statistic=statistic,
        period=period,
    )


def executions(machine_arn: str, name: str) -> cloudwatch.Metric:
    """Return a count of the state machine's runs (``ExecutionsFailed``)."""
    return cloudwatch.Metric(
        namespace="AWS/States",
        metric_name=name,
        dimensions_map={"StateMachineArn": machine_arn},
        statistic="Sum",
        period=MINUTE,
    )
