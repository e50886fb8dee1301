"""What this version stores the release before reads, and the other way round: while a stack is deployed both are there.

After a roll-back, too. A document that cannot be read begins anew, and with it goes what holds an act back. A document
that is refused here is changed so that older ones understand it, never the file in tests/data/stored, which the last
step of a release writes (`tests/tools/stored.py`). What older ones do not know they leave out: it is a new field with a
default. A list of fixed length can have no more.
"""

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.stored import BATCHES, BEFORE, KINDS, judged, schema_of, whole

VALIDATOR = importlib.import_module("jsonschema").Draft202012Validator
NOBODY_ASKED = {  # the release before wrote these and never read them
    "progress": {"node", "orchestrator", "moved_at", "step_seconds"},
    "Act": {"ended"},
}


def before(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((BEFORE / f"{kind}.json").read_text(encoding="utf-8"))
    return found


def longest_list_of_words(part: object) -> int:
    if isinstance(part, list):
        return max(map(longest_list_of_words, part), default=1)
    if not isinstance(part, dict):
        return 1
    words = part.get("enum")
    return max([len(words) if isinstance(words, list) else 1, *map(longest_list_of_words, part.values())])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_the_release_before_stored_is_read(kind: str) -> None:
    model, document = KINDS[kind], before(kind)["document"]
    read = model.model_validate_json(json.dumps(document))
    assert read.model_fields_set == document.keys() & model.model_fields.keys()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_stored_the_release_before_reads(kind: str) -> None:
    schema, reader = schema_of(kind), VALIDATOR(before(kind)["schema"])
    for number in range(longest_list_of_words(schema)):
        document = KINDS[kind].model_validate(whole(schema, number))
        for stored in (document.model_dump(mode="json"), document.model_dump(mode="json", exclude_defaults=True)):
            assert [error.message for error in reader.iter_errors(stored)] == []


def parts_of(kind: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield each model of *kind* with its properties then and now."""
    old, new = before(kind)["schema"], schema_of(kind)
    named = new.get("$defs", {})
    for name, part in {kind: old, **old.get("$defs", {})}.items():
        now = new if name == kind else named.get(name, {})
        yield name, part.get("properties", {}), now.get("properties", {})


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_left_out_means_the_same_to_both(kind: str) -> None:
    for _name, known, now in parts_of(kind):
        both = known.keys() & now.keys()
        assert {name: known[name].get("default") for name in both} == {name: now[name].get("default") for name in both}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_the_release_before_asks_for_is_written_still(kind: str) -> None:
    for name, known, now in parts_of(kind):
        assert known.keys() - now.keys() <= NOBODY_ASKED.get(name, set())


def shape_of(part: object) -> object:
    if isinstance(part, dict):
        return {name: shape_of(each) for name, each in part.items()}
    return [shape_of(each) for each in part] if isinstance(part, list) else type(part)


def test_a_state_of_a_node_has_the_shape_that_it_had() -> None:
    stored, state = (BEFORE / "node-state.json").read_text(encoding="utf-8"), ""
    for number in range(BATCHES):
        state = judged(number, state).state
    assert shape_of(json.loads(state)) == shape_of(json.loads(stored))
    assert judged(BATCHES, stored) == judged(BATCHES, state)
    assert judged(BATCHES, stored).findings


def test_every_kind_is_held_to_it() -> None:
    assert {path.stem for path in BEFORE.glob("*.json")} == {*KINDS, "node-state"}
