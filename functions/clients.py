"""How long a call to AWS may take: a call that hangs must leave its function time for the next try.

botocore's own bounds are a minute for the connection and a minute for each answer, which is longer than most of our
functions may run. It must not make clients: a handler does.
"""

from typing import Any

from botocore.config import Config

APPLICATION = "relight"  # in the user agent as "app/relight": CloudTrail shows it of each call


def bounded(*, connect_seconds: float = 2, read_seconds: float = 10, tries: int = 3, **more: Any) -> Config:  # noqa: ANN401 - options of botocore
    """Return a client's configuration whose calls end, with *tries* altogether."""
    return Config(
        connect_timeout=connect_seconds,
        read_timeout=read_seconds,
        retries={"mode": "standard", "total_max_attempts": tries},
        **{"user_agent_appid": APPLICATION, **more},
    )
