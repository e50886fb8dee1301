"""Which region a command asks: the one named, then AWS_REGION, then what boto3 finds (AWS_DEFAULT_REGION, the profile).

The AWS command line reads AWS_REGION first and boto3 does not know it: a terminal must not speak to two regions.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import boto3


def session(region: str | None = None) -> "boto3.Session":
    """Return a session under the credentials of the environment."""
    import boto3

    return boto3.Session(region_name=region or os.environ.get("AWS_REGION") or None)
