"""How a command speaks to AWS: in which region, and for how long it waits.

The region is the one named, then AWS_REGION, then what boto3 finds (AWS_DEFAULT_REGION, the profile). The AWS command
line reads AWS_REGION first and boto3 does not know it: a terminal must not speak to two regions.

Whatever client a session makes, its calls end. botocore's own bounds are a minute for each answer and as long for each
connection, several times over: who waits at three in the morning takes that for a command that hangs. Here a call that
nobody answers is given up within 40 s, is told of before (`console/patience.py`), and what answers has to be AWS
(`console/answers.py`). What copies an archive waits longer: no person waits for each of its calls.

Addresses that AWS's settings name are looked at before: what is no URL, botocore tells as a defect of the program.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from policies.contract.errors import SettingsError

if TYPE_CHECKING:
    import boto3
    from botocore.session import Session

CONNECT_SECONDS, READ_SECONDS, TRIES = 4.0, 8.0, 3
BULK_SECONDS, BULK_TRIES = 20.0, 5  # of each call of thousands: S3 asks for less at a time (503 SlowDown)
_ADDRESS = "AWS_ENDPOINT_URL"  # and with the name of a service behind it: AWS SDKs, "Service-specific endpoints"
_LONGEST = 200
CONNECTIONS = 16  # of one client: an archive is copied, and a fleet is asked, by several threads at once


def session(
    region: str | None = None, *, read_seconds: float | None = None, tries: int | None = None
) -> "boto3.Session":
    """Return a session under the credentials of the environment; an answer may take *read_seconds*, at most *tries*.

    SettingsError when the settings name an address that is none.
    """
    import boto3
    import botocore.session

    from console.answers import listen
    from console.patience import PATIENCE, watch
    from functions.clients import bounded

    core = botocore.session.get_session()
    for where, address in _addresses(core):
        if not _is_url(address):
            told = f"{where} is {address[:_LONGEST]!r}, which is no URL with a host and a port from 0 to 65535."
            raise SettingsError(told, hint="Write it as http://127.0.0.1:4566, or take it out.")
    core.set_default_client_config(
        bounded(
            connect_seconds=CONNECT_SECONDS,
            read_seconds=read_seconds or READ_SECONDS,
            tries=tries or TRIES,
            max_pool_connections=CONNECTIONS,
        )
    )
    core.register_component("credential_provider", _Keys(core))
    events = core.get_component("event_emitter")
    listen(events)
    watch(events, PATIENCE)
    return boto3.Session(botocore_session=core, region_name=region or os.environ.get("AWS_REGION") or None)


class _Keys:
    """What finds credentials as botocore does; what that raises of settings that it cannot read is no defect of ours.

    A `credential_process` that prints no JSON, an address of a container's that is none, a number that is no number.
    """

    def __init__(self, core: "Session") -> None:
        with _told():
            self._found = core.get_component("credential_provider")

    def load_credentials(self) -> object:
        """Return them; None when there are none. SettingsError when what the settings name gives none."""
        with _told():
            return self._found.load_credentials()

    def __getattr__(self, name: str) -> object:
        return getattr(self._found, name)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        told = f"the credentials that AWS's settings name cannot be had: {error}"[:_LONGEST].rstrip(".")
        hint = "See ~/.aws/config (credential_process prints JSON) and the variables that begin with AWS_."
        raise SettingsError(f"{told}.", hint=hint) from error


def _addresses(core: "Session") -> Iterator[tuple[str, str]]:
    """Yield each address of an endpoint that somebody set, and where."""
    profile = core.get_scoped_config()
    services = core.full_config.get("services", {}).get(profile.get("services"), {})
    yield from ((name, value) for name, value in os.environ.items() if name.startswith(_ADDRESS) and value)
    for where, words in (("", profile), *services.items()):
        if isinstance(words, dict) and words.get("endpoint_url"):
            yield f"endpoint_url of ~/.aws/config{f' for {where}' if where else ''}", str(words["endpoint_url"])


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 0) >= 0
    except ValueError:
        return False
