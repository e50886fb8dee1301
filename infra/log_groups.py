"""Log groups that exist before anything logs, with a retention: what Lambda makes by itself is kept for ever.

It must not know whose log it is.
"""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.settings import LogDays

_NAMES: dict[LogDays, str] = {
    1: "ONE_DAY",
    3: "THREE_DAYS",
    5: "FIVE_DAYS",
    7: "ONE_WEEK",
    14: "TWO_WEEKS",
    30: "ONE_MONTH",
    60: "TWO_MONTHS",
    90: "THREE_MONTHS",
    120: "FOUR_MONTHS",
    150: "FIVE_MONTHS",
    180: "SIX_MONTHS",
    365: "ONE_YEAR",
    400: "THIRTEEN_MONTHS",
    545: "EIGHTEEN_MONTHS",
    731: "TWO_YEARS",
}


def log_group(scope: Construct, days: LogDays) -> logs.LogGroup:
    """Return the log group of *scope*, kept for *days*."""
    return logs.LogGroup(
        scope, "Logs", retention=logs.RetentionDays[_NAMES[days]], removal_policy=RemovalPolicy.DESTROY
    )
