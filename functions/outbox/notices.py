"""What a notice, of the guard or of the weekly report, reads like on the bus. It must not know who listens."""

from collections.abc import Mapping
from typing import Any

from functions.adapters.notice_items import notice_of
from functions.outbox.plain import plain
from functions.ports.bus import Announcement
from functions.ports.notices import Notice, NoticeKind

TYPES: Mapping[NoticeKind, str] = {
    "rejected": "Policy Rejected",
    "deleted": "Policy Deleted",
    "mended": "Policy Mended",
    "stopped": "Policies Stopped",
    "started": "Policies Started",
    "reported": "Policies Reported",
    "edited": "Policy Edited",
}
"""Each begins as the rule to the alerts topic wants it (`infra/bus.py`)."""


def announcement_of(record: Mapping[str, Any]) -> Announcement | None:
    """Return what *record* (of the incidents table's stream) tells of a policy; None when it is something else."""
    new = record["dynamodb"].get("NewImage")
    notice = notice_of(new) if new else None
    return _tell(notice) if notice else None


def _tell(notice: Notice) -> Announcement:
    return Announcement(
        id=f"notice:{notice.id}",
        type=TYPES[notice.kind],
        at=notice.at,
        detail={
            **notice.detail,
            "notice": notice.kind,
            "policy": notice.policy,
            "by": notice.by,
            "alert": "notify",
            "text": plain(notice.text),
        },
    )
