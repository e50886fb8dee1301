"""Who writes the beginning of a word is told the words that begin so; who mistypes one, those that look like it."""

import pytest

from policies.contract.vocabulary import Kind
from policies.expressions.checker import check
from policies.similar import similar

KINDS = [kind.value for kind in Kind]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("gpu.ecc", ["gpu.ecc_corrected", "gpu.ecc_uncorrected"]),
        ("gpu.ecc_u", ["gpu.ecc_uncorrected"]),
        ("node", ["node.silent", "node.not_ready", "node.recovered", "node.kubelet_down"]),
        ("gpu.xud", ["gpu.xid"]),
        ("nothing like it", []),
    ],
)
def test_the_beginning_of_a_word_is_taken_for_it(word: str, meant: list[str]) -> None:
    assert list(similar(word, KINDS, most=1)) == meant


def test_what_begins_nearly_everything_names_a_few() -> None:
    assert len(similar("gpu.", KINDS)) == 5
    assert "gpu.xid" in similar("gp", KINDS, cutoff=0.3)


def test_a_condition_is_told_so() -> None:
    (problem,) = check('event.kind == "gpu.ecc"', "when")
    assert problem.hint == "Did you mean gpu.ecc_corrected, gpu.ecc_uncorrected?"
    (problem,) = check('event.kind == "gpu.xid" && node.incidents > 3', "when")
    assert problem.hint == "Did you mean node.incidents_7d, node.incidents_28d?"
