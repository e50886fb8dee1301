"""What we ship passes our own lint."""

from policies.lint.codes import Level
from policies.lint.lint import Written, lint
from tests.tools.envelopes import SHIPPED


def test_the_shipped_policies_have_neither_problems_nor_warnings() -> None:
    written = [Written(str(path.name), path.read_bytes()) for path in sorted(SHIPPED.glob("*.yaml"))]
    found = [flaw for linted in lint(written) for flaw in linted.flaws if flaw.level is not Level.NOTE]
    assert [str(flaw) for flaw in found] == []
