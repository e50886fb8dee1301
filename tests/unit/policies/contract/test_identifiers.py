"""The same parts give the same id for ever, whatever characters they hold."""

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from policies.contract.identifiers import stable_id

PARTS = st.lists(st.one_of(st.text(st.characters()), st.integers(), st.none()), max_size=5)


@given(PARTS)
def test_an_id_is_the_hash_of_each_part_behind_its_length_in_bytes(parts: list[object]) -> None:
    texts = [str(part).encode("utf-8", "surrogatepass") for part in parts]
    told = b"".join(b"%d:%b" % (len(text), text) for text in texts)
    assert stable_id(*parts) == hashlib.sha256(told).hexdigest()[:32]


def test_ids_of_today_are_those_of_yesterday() -> None:
    assert stable_id("event", 1, "é") == "6f346f0ff0e441655f657c828ccaf072"
    assert stable_id("ab", "c") != stable_id("a", "bc")
