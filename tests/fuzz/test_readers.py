"""The short run of `make fuzz`: what people and machines made up, and hypothesis on top of it."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.readers import check

DATA = Path(__file__).parents[1] / "data"
RECORDS = [
    json.loads(line)["record"]
    for name in ("kernel_lines.jsonl", "training_lines.jsonl")
    for line in (DATA / name).read_text(encoding="utf-8").splitlines()
]


def test_every_line_of_the_corpus_keeps_the_rules() -> None:
    check("\n".join(RECORDS).encode())
    for record in RECORDS:
        check(record.encode())


@given(st.data())
def test_lines_cut_glued_and_spoiled_keep_the_rules(data: st.DataObject) -> None:
    """Half of one line, some noise and half of another: where parsers break, if they break."""
    first, second = (data.draw(st.sampled_from(RECORDS)) for _ in range(2))
    cut = data.draw(st.integers(0, len(first)))
    noise = data.draw(st.text(max_size=12) | st.integers(0, 10**30).map(str))
    check((first[:cut] + noise + second[cut // 2 :]).encode("utf-8", "replace"))


@given(st.lists(st.sampled_from(RECORDS), max_size=12).map("\n".join), st.integers(0, 40))
def test_lines_in_any_company_keep_the_rules(text: str, dropped: int) -> None:
    check(text.encode()[dropped:])


@given(st.binary(max_size=400))
def test_any_bytes_keep_the_rules(data: bytes) -> None:
    check(data)
