"""What a change of the incidents table is in the archive: a version of an incident, or of an act's record.

Decides which items are kept. Lines of the timeline are in the incident's document, and what expires is no news. The
task token stands beside the document and stays out. It must not know S3.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from functions.archive.plain import plain
from policies.contract.archive import Happening, What
from policies.contract.times import parse_time

_INCIDENT, _META, _ACT = "INCIDENT#", "META", "ACT#"
_SECRET = frozenset({"task_token"})


def happening_of(image: Mapping[str, Any] | None, number: str, at: datetime) -> Happening | None:
    """Return what the new *image* of an item says; None for what is not kept.

    *number* and *at* are the stream's, for a document that cannot be read: it is kept as the item stands.
    """
    item = plain(image) if image else {}
    what = _what(item)
    if what is None:
        return None
    try:
        document = json.loads(item["document"])
        return _read(what, document, parse_time(document["updated_at" if what == "incident" else _last(document)]))
    except (KeyError, ValueError, TypeError, RecursionError):
        rest = {name: value for name, value in item.items() if name not in _SECRET}
        return Happening(at, what, f"{item['pk']}:{item['sk']}:{number}", rest)


def _what(item: Mapping[str, Any]) -> What | None:
    key, sort = str(item.get("pk", "")), str(item.get("sk", ""))
    if not key.startswith(_INCIDENT):
        return None
    return "incident" if sort == _META else "act" if sort.startswith(_ACT) else None


def _last(act: Mapping[str, Any]) -> str:
    return "updated_at" if act.get("updated_at") else "intended_at"


def _read(what: What, document: dict[str, Any], at: datetime) -> Happening:
    if what == "incident":
        return Happening(at, what, f"{document['id']}:{int(document['version']):08d}", document)
    status = document["report"]["status"] if document.get("report") else "intended"
    names = (document["incident"], document["rung"], document["attempt"], document["turn"], document["fence"], status)
    return Happening(at, what, ":".join(map(str, names)), document)
