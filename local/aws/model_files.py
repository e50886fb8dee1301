"""The files in which botocore describes AWS: parsed once a process, not once a session.

Every session parses the model of each service that it makes a client of, and looks through some 400 folders for the
names of all. Here sessions that read the same files share what came of them, as clients of one session always do;
moto's reader adds to the models and has its own. Nobody shares a model of S3, which botocore changes under way (its
handler `remove_bucket_from_url_paths_from_model`). It must not import our Lambda code: parents of workers load it.
"""

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import boto3
from botocore.loaders import Loader

from local.aws.patches.replacing import replace

_CHANGED = {"s3"}
_OF_ALL_SERVICES = {"endpoints", "partitions", "sdk-default-configuration"}


@functools.cache
def parse_once() -> None:
    """From now on, no session of this process, or of one forked from it, parses again what another has parsed."""
    kept: dict[Hashable, Any] = {}

    def shared(name: str, is_shared: Callable[..., bool]) -> None:
        def load(self: Loader, *args: Any, **options: Any) -> Any:
            if not is_shared(*args, **options):
                return original(self, *args, **options)
            key = (name, type(self), *self.search_paths, *self.extras_types, args, *sorted(options.items()))
            if key not in kept:
                kept[key] = original(self, *args, **options)
            return kept[key]

        original = replace(Loader, name, load)

    shared("list_available_services", lambda *_, **__: True)
    shared("load_service_model", lambda service_name, *_, **__: service_name not in _CHANGED)
    shared("load_data_with_path", lambda name: name in _OF_ALL_SERVICES)


def parse_now(services: Sequence[str]) -> None:
    """Parse what a client of each of these services needs, for the processes that will be forked from this one.

    The session that is made for this knows nobody's account and is thrown away.
    """
    parse_once()
    session = boto3.Session(aws_access_key_id="none", aws_secret_access_key="none", region_name="us-east-1")  # noqa: S106
    make: Any = session.client
    for service in services:
        make(service)
