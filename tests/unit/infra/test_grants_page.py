"""docs/grants.md against the template: each grant stands there, used in a story or with the reason why it stays."""

import json
from pathlib import Path

from tests.tools.grants import PAGE, USED, differences, granted, read_page, render


def test_every_grant_stands_on_the_page_with_a_reason(template_path: Path) -> None:
    template = json.loads(template_path.read_text())
    assert differences(read_page(), granted(template)) == []


def test_the_page_is_what_the_tool_writes_and_its_counts_are_those_of_its_rows(template_path: Path) -> None:
    used = [grant for grant, why in read_page().items() if why == USED]
    assert PAGE.read_text() == render(granted(json.loads(template_path.read_text())), dict.fromkeys(used, USED))


def test_a_grant_without_a_reason_and_one_that_is_gone_are_told(tmp_path: Path) -> None:
    grants = sorted(read_page())
    new = grants[0]._replace(action="s3:DeleteBucket", sid="Careless")
    page = tmp_path / "grants.md"
    page.write_text(render([*grants, new], dict.fromkeys(grants, USED)))
    told = read_page(page)
    assert differences(told, [*grants[1:], new]) == [
        f"{new.role} Careless s3:DeleteBucket is granted, and the page does not say why",
        f"{' '.join(grants[0])} is on the page and no longer granted",
    ]
