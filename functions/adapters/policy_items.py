"""Policies as DynamoDB items: keys, the shapes of `head` and listing, plain values there and back.

It must not call DynamoDB.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from functions.ports.policies import UNKNOWN, BrokenItemError, Edit, Head, Heading
from policies.contract.vocabulary import PolicyMode
from policies.documents import BOOKKEEPING
from policies.model import Policy, written_names

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = dict[str, AttributeValueTypeDef]

Condition = tuple[str, dict[str, str], dict[str, Any]]
"""An expression with its names and its values, these still plain."""

LISTING, LISTING_PREFIX, REVISION_PREFIX = "HEADS", "p:", "rev#"
_LONGEST_KEY = 2048  # bytes of a partition key (DynamoDB quotas)
_TEXTS = ("name", "hash", "document")
MOST_CONDITIONS = 60  # a condition expression has at most 4 KB
_read, _write = TypeDeserializer(), TypeSerializer()


def key_of(name: str, sort: str) -> Item:
    """Return the key of one item."""
    return {"name": {"S": name}, "sk": {"S": sort}}


def typed(item: Mapping[str, Any]) -> Item:
    """Return plain values in DynamoDB's form."""
    return {key: _write.serialize(_exact(value)) for key, value in item.items()}


def untyped(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return DynamoDB's form as plain values (numbers as Decimal)."""
    return {key: _read.deserialize(value) for key, value in item.items()}


def _exact(value: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """DynamoDB knows no binary floats; their shortest text is what was written."""
    if isinstance(value, float):
        return Decimal(repr(value))
    if isinstance(value, Mapping):
        return {key: _exact(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(inner) for inner in value]
    return value


def sort_of(revision: int) -> str:
    """Return the sort key of a revision; they sort as their numbers do."""
    return f"{REVISION_PREFIX}{revision:08d}"


def readable(items: Iterable[Mapping[str, Any]]) -> list[Head]:
    """Return those of *items* that nobody broke by hand."""
    found = []
    for item in items:
        with suppress(BrokenItemError):
            found.append(head_of(item))
    return found


def line_of(head: Head) -> dict[str, Any]:
    """Return *head* as its line of the listing."""
    return {"revision": head.revision, "hash": head.hash, "mode": head.mode.value}


def head_item(head: Head, sort: str) -> dict[str, Any]:
    """Return *head* as the item ``head`` or ``rev#n``; what is not known of the edit is left out."""
    edit = head.edit
    known = {
        "edited_by": edit.by,
        "edited_at": edit.at,
        "edit_reason": edit.reason,
        "pushed_from": edit.source,
        "restored": edit.restored,
        "edit_mark": edit.mark,
        "accepted_at": edit.accepted_at,
        "written_from": edit.written_from,
        "written_until": edit.written_until,
        "used_marks": list(edit.used),
    }
    return {
        "name": head.name,
        "sk": sort,
        "revision": head.revision,
        "hash": head.hash,
        "mode": head.mode.value,
        "document": head.document,
        **{key: value for key, value in known.items() if value},
        **({} if edit.after is None else {"after": edit.after}),
    }


def head_of(item: Mapping[str, Any]) -> Head:
    """Return what `head_item` made an item of; BrokenItemError when somebody changed it by hand."""
    try:
        mode, revision, texts = PolicyMode(item["mode"]), _revision(item), [_text(item, key) for key in _TEXTS]
        return Head(texts[0], revision, texts[1], mode, texts[2], _edit_of(item))
    except (KeyError, ValueError, TypeError, ArithmeticError) as error:
        told = f"the item {item.get('sk')} of policy {item.get('name')} was changed by hand: {error}."
        raise BrokenItemError(told, hint=_way_out(item), found=item) from error


def _way_out(item: Mapping[str, Any]) -> str:
    if str(item.get("sk")).startswith(REVISION_PREFIX):  # `functions/guard/mending.py` needs no older one
        return "If it is the one in force, the guard writes it anew; an older one is lost here. Edit `live` instead."
    return "The guard writes it anew; edit `live` instead."


def _revision(there: Mapping[str, Any]) -> int:
    """Return the whole number that stands there as a number: what is written over it is held against that."""
    revision = there["revision"]
    if isinstance(revision, bool) or not isinstance(revision, int | Decimal) or revision != int(revision):
        raise TypeError("its revision is no whole number")
    return int(revision)


def _text(there: Mapping[str, Any], key: str) -> str:
    text = there[key]
    if not isinstance(text, str):
        raise TypeError(f"its {key} is no text")
    return text


def _edit_of(item: Mapping[str, Any]) -> Edit:
    return Edit(
        by=str(item.get("edited_by", UNKNOWN)),
        at=str(item.get("edited_at", "")),
        reason=str(item.get("edit_reason", "")),
        source=str(item.get("pushed_from", "")),
        restored=int(item.get("restored", 0)),
        mark=str(item.get("edit_mark", "")),
        accepted_at=str(item.get("accepted_at", "")),
        after=int(item["after"]) if "after" in item else None,
        used=tuple(str(one) for one in item.get("used_marks", ())),
        written_from=str(item.get("written_from", "")),
        written_until=str(item.get("written_until", "")),
    )


def heading_of(name: str, line: object) -> Heading:
    """Return one line of the listing; BrokenItemError when somebody changed it by hand."""
    try:
        if not isinstance(line, Mapping):
            raise TypeError("it is no map")  # noqa: TRY301 - one way out for all that is wrong with it
        heading = Heading(name, _revision(line), _text(line, "hash"), PolicyMode(line["mode"]))
        if not heading.is_readable:
            raise ValueError("there is no such revision")  # noqa: TRY301 - as above
    except (KeyError, ValueError, TypeError, ArithmeticError) as error:
        raise BrokenItemError(
            f"the listing's line of {name} was changed by hand: {error}.", hint="The guard writes it anew.", found=line
        ) from error
    return heading


def headings_of(listing: Mapping[str, Any]) -> list[Heading]:
    """Return the lines of the listing item; for one that is broken, what stands for it."""
    found = []
    for attribute, line in listing.items():
        name = attribute.removeprefix(LISTING_PREFIX)
        if name != attribute and 0 < len(name.encode()) <= _LONGEST_KEY:
            try:
                found.append(heading_of(name, line))
            except BrokenItemError:
                found.append(Heading.unreadable(name))
    return found


def head_as_seen(seen: Head | BrokenItemError | None) -> Condition:
    """Return the condition that a head, or a revision, is still the one that was *seen*."""
    if seen is None:
        return "attribute_not_exists(sk)", {}, {}
    there = {"revision": seen.revision, "hash": seen.hash} if isinstance(seen, Head) else seen.found
    held = there if isinstance(there, Mapping) else {}
    names = {"#revision": "revision", "#hash": "hash"}
    same = [f"{name} = :{key}" if key in held else f"attribute_not_exists({name})" for name, key in names.items()]
    return (
        " AND ".join(["attribute_exists(sk)", *same]),
        names,
        {f":{key}": held[key] for key in ("revision", "hash") if key in held},
    )


def line_as_seen(seen: Heading | BrokenItemError | None) -> Condition:
    """Return the condition that the line ``#policy`` of the listing is still the one that was *seen*."""
    if seen is None:
        return "attribute_not_exists(#policy)", {}, {}
    if isinstance(seen, BrokenItemError):
        return "#policy = :seen", {}, {":seen": seen.found}
    names = {"#revision": "revision", "#hash": "hash"}
    same = "#policy.#revision = :seen AND #policy.#hash = :hash"
    return same, names, {":seen": seen.revision, ":hash": seen.hash}


def unchanged(seen: Mapping[str, Any]) -> Condition:
    """Return the condition (with names and values) that an operator's fields are still those of *seen*.

    An item with more fields than a condition can hold is junk; then it only has to be there still.
    """
    own = sorted(name for name in seen if name not in BOOKKEEPING and name != "name")
    absent = sorted(name for name in written_names(Policy) if name not in seen)
    if len(own) + len(absent) > MOST_CONDITIONS:
        return "attribute_exists(sk)", {}, {}
    names = {f"#f{at}": name for at, name in enumerate([*own, *absent])}
    values = {f":f{at}": seen[name] for at, name in enumerate(own)}
    same = [f"#f{at} = :f{at}" for at in range(len(own))]
    gone = [f"attribute_not_exists(#f{at})" for at in range(len(own), len(names))]
    return " AND ".join(["attribute_exists(sk)", *same, *gone]), names, values
