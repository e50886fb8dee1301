"""How a command speaks to AWS: in which region, and for how long it waits.

The region is the one named, then AWS_REGION, then what boto3 finds (AWS_DEFAULT_REGION, the profile). The AWS command
line reads AWS_REGION first and boto3 does not know it: a terminal must not speak to two regions.

Whatever client a session makes, its calls end. botocore's own bounds are a minute for each answer and as long for each
connection, several times over: who waits at three in the morning takes that for a command that hangs.
"""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import boto3

CONNECT_SECONDS, READ_SECONDS, TRIES = 5.0, 20.0, 5
CONNECTIONS = 16  # of one client: an archive is copied, and a fleet is asked, by several threads at once


def session(region: str | None = None, *, read_seconds: float = READ_SECONDS) -> "boto3.Session":
    """Return a session under the credentials of the environment; an answer may take *read_seconds*."""
    import boto3
    import botocore.session

    from functions.clients import bounded

    core = botocore.session.get_session()
    core.set_default_client_config(
        bounded(
            connect_seconds=CONNECT_SECONDS, read_seconds=read_seconds, tries=TRIES, max_pool_connections=CONNECTIONS
        )
    )
    return boto3.Session(botocore_session=core, region_name=region or os.environ.get("AWS_REGION") or None)
