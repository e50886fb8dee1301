"""The bus on EventBridge.

Decides how announcements are cut into calls. It must not decide whether a refused one is tried again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from functions.ports.bus import Announcement

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_events import EventBridgeClient
    from types_boto3_events.type_defs import PutEventsRequestEntryTypeDef

SOURCE = "relight"
ENTRIES_PER_CALL = 10  # EventBridge quota: PutEvents takes 10 entries a call


class EventBridgeBus:
    """See `functions/ports/bus.py`."""

    def __init__(self, client: EventBridgeClient, name: str) -> None:
        """Tell the bus *name*."""
        self._client = client
        self._name = name

    def put(self, announcements: Sequence[Announcement]) -> Sequence[Announcement]:
        """See the port."""
        return [refused for call in _calls(announcements) for refused in self._put(call)]

    def _put(self, call: Sequence[Announcement]) -> Iterator[Announcement]:
        with calling("telling the bus"):
            answer = self._client.put_events(Entries=[self._entry(each) for each in call])
        for each, result in zip(call, answer["Entries"], strict=True):
            if result.get("ErrorCode"):
                yield each

    def _entry(self, announcement: Announcement) -> PutEventsRequestEntryTypeDef:
        return {
            "EventBusName": self._name,
            "Source": SOURCE,
            "DetailType": announcement.type,
            "Time": announcement.at,
            "Detail": json.dumps({"id": announcement.id, **announcement.detail}, separators=(",", ":")),
        }


def _calls(announcements: Sequence[Announcement]) -> Iterator[Sequence[Announcement]]:
    for start in range(0, len(announcements), ENTRIES_PER_CALL):
        yield announcements[start : start + ENTRIES_PER_CALL]
