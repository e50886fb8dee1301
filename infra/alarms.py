"""When a person must look at Relight itself: each alarm says what it means and what to do.

Decides thresholds of what AWS measures; `watched.py` does of our own figures. It must not know who is told
(`alerts.py` does). Incidents are no alarms: they reach the topic by the bus.
"""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra import metrics
from infra.watched import WATCHED

MISSING_IS_BAD = cloudwatch.TreatMissingData.BREACHING
MISSING_IS_GOOD = cloudwatch.TreatMissingData.NOT_BREACHING
_OVER = cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD
_UNDER = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
_MILLISECONDS = 1000
# An event is worth most in its first minute. Coordinate's queue should be empty all the time.
LATE_SECONDS = 60
CHANGES_LATE_SECONDS = 300
ARCHIVE_LATE_SECONDS = 1800  # nobody waits for it, and what it reads is kept for a day and more
# Overflow is used when Kinesis refuses, AWS's own events are no emergency: both may wait a little. Who wrote a policy
# comes minutes late anyway.
QUEUE_LATE_SECONDS = {"overflow": 120, "aws-events": 300, "decisions": LATE_SECONDS, "calls": 900}


class Alarms(Construct):
    """All alarms, each to the topic when it begins and when it ends."""

    def __init__(self, scope: Construct, construct_id: str, topic: sns.ITopic) -> None:
        """Create none yet; the methods do, one kind each."""
        super().__init__(scope, construct_id)
        self._action = actions.SnsAction(topic)
        self.all: list[cloudwatch.Alarm] = []

    def watch_pipeline(self, triage: lambda_.Function) -> None:
        """Alarm when events wait in the stream, or when nothing at all comes through: the canary comes every minute."""
        age = triage.metric("IteratorAge", statistic="Maximum", period=metrics.MINUTE)
        self._alarm(
            "IteratorAge",
            age,
            LATE_SECONDS * _MILLISECONDS,
            "Events wait in the stream for more than a minute, or nobody reads it. Look at triage's log for the"
            " dependency that fails.",
            periods=3,
            missing=MISSING_IS_BAD,
        )
        self._alarm(
            "CanaryMissing",
            metrics.own(metrics.CANARIES),
            1,
            "The sweep's canary did not come out of triage for three minutes: faults would not either. Look at sweep,"
            " the stream, triage, in this order.",
            periods=3,
            missing=MISSING_IS_BAD,
            comparison=_UNDER,
        )

    def watch_archive(self, archive: lambda_.Function) -> None:
        """Alarm when what goes by is not written down, or nothing is: what its streams forget is lost to history."""
        period = Duration.minutes(15)  # it gathers for up to five
        age = archive.metric("IteratorAge", statistic="Maximum", period=period)
        text = (
            "Events or changes have been waiting for the archive for over half an hour, or nobody reads: see its log."
        )
        self._alarm("ArchiveAge", age, ARCHIVE_LATE_SECONDS * _MILLISECONDS, text, periods=2, missing=MISSING_IS_BAD)

    def watch_figures(self) -> None:
        """Alarm on the figures that our functions write about what they see."""
        for each in WATCHED:
            figure = metrics.own(each.figure, each.statistic, Duration.minutes(each.minutes))
            self._alarm(each.name, figure, each.above, each.text, periods=each.periods)

    def watch_changes(self, name: str, function: lambda_.Function) -> None:
        """Alarm when changes of a table wait for *function*: one that answers with partial failures has no errors."""
        age = function.metric("IteratorAge", statistic="Maximum", period=metrics.MINUTE)
        text = f"Changes of a table wait for {name} for over five minutes: see its log."
        self._alarm(f"{name}Age", age, CHANGES_LATE_SECONDS * _MILLISECONDS, text, periods=3)

    def watch_queue(self, name: str, queue: sqs.IQueue) -> None:
        """Alarm when the oldest message of a working queue is too old."""
        seconds = QUEUE_LATE_SECONDS[name]
        age = queue.metric_approximate_age_of_oldest_message(period=metrics.MINUTE)
        text = f"The oldest message of {name} waits for over {seconds} s: see the log of the function that reads it."
        self._alarm(f"{_words(name)}Age", age, seconds, text, periods=3)

    def watch_dead(self, name: str, queue: sqs.IQueue) -> None:
        """Alarm on the first message that nobody could deliver or use."""
        depth = queue.metric_approximate_number_of_messages_visible(period=metrics.MINUTE, statistic="Maximum")
        text = f"{name} holds what failed for good: relight dlq show, mend the cause, relight dlq redrive."
        self._alarm(f"{_words(name)}Depth", depth, 0, text)

    def watch_executions(self, machine_arn: str) -> None:
        """Alarm on runs that end otherwise than by their own decision."""
        for how in ("Failed", "Aborted", "TimedOut"):
            text = f"An execution of handle-incident ended as {how}. The sweep starts its next attempt or parks it."
            self._alarm(f"Executions{how}", metrics.executions(machine_arn, f"Executions{how}"), 0, text)

    def watch_function(self, name: str, function: lambda_.Function) -> None:
        """Alarm on errors and throttles of one function."""
        errors = function.metric_errors(period=metrics.MINUTE, statistic="Sum")
        throttles = function.metric_throttles(period=metrics.MINUTE, statistic="Sum")
        text = f"{name} fails (it is retried): look at its log for the hint in the message."
        self._alarm(f"{name}Errors", errors, 0, text, periods=2)
        text = f"{name} is throttled: the account's concurrency is used up. Ask for more, or see who uses it."
        self._alarm(f"{name}Throttles", throttles, 0, text, periods=2)

    def _alarm(
        self,
        name: str,
        metric: cloudwatch.IMetric,
        threshold: float,
        description: str,
        *,
        periods: int = 1,
        missing: cloudwatch.TreatMissingData = MISSING_IS_GOOD,
        comparison: cloudwatch.ComparisonOperator = _OVER,
    ) -> None:
        alarm = cloudwatch.Alarm(
            self,
            name,
            metric=metric,
            threshold=threshold,
            evaluation_periods=periods,
            comparison_operator=comparison,
            treat_missing_data=missing,
            alarm_description=description,
        )
        alarm.add_alarm_action(self._action)
        alarm.add_ok_action(self._action)
        self.all.append(alarm)


def _words(name: str) -> str:
    """Return ``aws-events-dlq`` as ``AwsEventsDlq``."""
    return "".join(part.capitalize() for part in name.split("-"))
