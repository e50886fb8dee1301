"""Mistakes of what a policy tells people: why, on whose word, by which examples."""

import re
from collections.abc import Iterator

from policies.lint.flaw import Flaw
from policies.lint.reading import Reading

_FEWEST_WORDS = 6  # "GPU is broken, replace it" gives no cause


def telling_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what *read* does not tell."""
    policy = read.policy
    if read.acts and not policy.cites:
        yield Flaw.of(
            "L601", "cites", "nothing is cited for what is done to nodes and runs.", "Name the vendor's page."
        )
    words = set(re.findall(r"\w+", policy.why.lower())) - set(policy.name.split("-"))
    if len(words) < _FEWEST_WORDS:
        yield Flaw.of(
            "L602", "why", "it gives no cause to whoever is woken.", "Say what it means and why this is the answer."
        )
    yield from _examples(read)


def _examples(read: Reading) -> Iterator[Flaw]:
    examples = read.policy.examples
    if read.acts and not examples:
        yield Flaw.of(
            "L502",
            "examples",
            "nothing shows what it does and what it leaves alone.",
            "Add two: one that fires, one that does not.",
        )
    if read.acts and examples and all(example.findings for example in examples):
        yield Flaw.of("L503", "examples", "all of them fire.", "Add a near one with findings: 0.")
    if examples and not any(example.findings for example in examples):
        yield Flaw.of("L504", "examples", "none of them fires.", "Add one with findings: 1.")
