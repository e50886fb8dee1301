"""A text that somebody made to hurt, or that is no policy at all, is refused within a moment, with what is wrong."""

import time

import pytest

from policies.lint.codes import Level
from policies.lint.lint import Written, lint

LEVELS = "".join(
    f"{after}: &{after} [{', '.join([f'*{before}'] * 9)}]\n"
    for before, after in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = {
    "aliases that grow": f"a: &a [x]\n{LEVELS}",
    "an alias of itself": "a: &a [*a]\n",
    "a mapping of itself": "a: &a\n  b: *a\n",
    "thousands of fields": "".join(f"f{number}: 1\n" for number in range(7000)),
    "more than is read": "a: 1\n" * 1_000_000,
    "one long line": f"name: {'a' * 3_000_000}\n",
    "nested without end": "[" * 60_000,
    "nested and closed": "[" * 900 + "]" * 900,
    "a tag": 'name: !!python/object/apply:os.system ["id"]\n',
    "keys that are none": "? [a]\n: b\n? {c: d}\n: e\n",
    "a number beyond all": "name: 1" + "0" * 5000 + "\n",
    "two documents": "name: x\n---\nname: y\n",
    "tabs": "name: t\n\tmode: active\n",
    "nothing": "",
    "a merge": "<<: {a: 1}\nname: x\n",
    "a field twice": "name: a\nname: b\n",
    "control characters": "name: \x00\x07\n",
}
BYTES = {
    "Latin-1": "name: ü\n".encode("latin-1"),
    "UTF-16": "name: x\n".encode("utf-16"),
    "surrogate": b"name: \xed\xa0\x80\n",
}


@pytest.mark.parametrize("text", [*HOSTILE.values(), *BYTES.values()], ids=[*HOSTILE, *BYTES])
def test_it_is_refused_at_once_with_a_reason(text: str | bytes) -> None:
    begun = time.process_time()
    (linted,) = lint([Written("ours/x.yaml", text)])
    assert time.process_time() - begun < 10, "seconds, not minutes, on the slowest machine"
    assert linted.policy is None
    problems = [flaw for flaw in linted.flaws if flaw.level is Level.PROBLEM]
    assert 0 < len(problems) < 100
    assert all(0 < len(str(flaw)) < 2000 for flaw in problems)
