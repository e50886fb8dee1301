"""A notice as an item of the incidents table: ``NOTICE#<id>``/``NOTICE``, whole as JSON, beside it what eyes need.

It must not call DynamoDB.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from functions.ports.notices import Notice

PREFIX, SORT = "NOTICE#", "NOTICE"
KEPT = timedelta(days=90)  # as long as a closed incident's items; then the table drops them by itself


def notice_item(notice: Notice) -> dict[str, Any]:
    """Return *notice* as an item, in DynamoDB's form."""
    return {
        "pk": {"S": f"{PREFIX}{notice.id}"},
        "sk": {"S": SORT},
        "kind": {"S": notice.kind},
        "policy": {"S": notice.policy},
        "document": {"S": notice.model_dump_json()},
        "expires": {"N": str(int((notice.at + KEPT).timestamp()))},
    }


def notice_of(item: Mapping[str, Any]) -> Notice | None:
    """Return the notice in the *item* of a stream's image, None when it is something else; ValueError when broken."""
    if not str(item.get("pk", {}).get("S", "")).startswith(PREFIX):
        return None
    return Notice.model_validate_json(item.get("document", {}).get("S", ""))
