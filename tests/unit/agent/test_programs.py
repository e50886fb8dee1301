import os
import time
from pathlib import Path

import pytest

from agent import programs
from agent.evidence.bounded import BoundedFile
from agent.programs import KEPT_BYTES, ProgramError, run_program
from tests.tools.evidence import FAILS, FLOODS, HANGS, Site, group_is_gone, within
from tests.tools.sources import eventually


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path)
    site.prepare()
    return site


def run(site: Site, text: str, *, seconds: float = 60, limit: int = 1000, file_limit: int | None = None) -> list[int]:
    site.program("x", text)
    out = BoundedFile(site.root / "out", limit)
    groups: list[int] = []
    try:
        run_program(
            [str(site.programs / "x")],
            out,
            seconds=seconds,
            started=groups.append,
            folder=site.root,
            file_limit=file_limit,
        )
    finally:
        out.close()
        eventually(lambda: all(group_is_gone(group) for group in groups))
    return groups


def test_what_it_prints_is_kept(site: Site) -> None:
    run(site, "#!/bin/sh\necho one\necho two >&2\n")
    assert (site.root / "out").read_text() == "one\ntwo\n"


def ended_once_it_spoke(site: Site, text: str) -> str:
    """Run what does not end for a second, or as many as it takes here until it says something; return that."""
    said = ""
    for seconds in (1, 5, 25):
        with pytest.raises(ProgramError, match="did not end within"):
            run(site, text, seconds=seconds)
        if said := (site.root / "out").read_text():
            break
    return said


def test_one_that_hangs_is_ended_with_all_that_it_began(site: Site) -> None:
    began = time.monotonic()
    said = ended_once_it_spoke(site, HANGS)
    assert within(120, began)
    assert said == "begun\n"


def test_one_that_floods_is_read_to_the_bound_and_ended(site: Site) -> None:
    assert len(ended_once_it_spoke(site, FLOODS)) == 1000


def test_one_that_fails_says_its_status(site: Site) -> None:
    with pytest.raises(ProgramError, match="ended with status 9"):
        run(site, FAILS)
    assert (site.root / "out").read_text() == "no device\n"


def test_one_that_is_not_there_says_so(site: Site) -> None:
    out = BoundedFile(site.root / "out", 10)
    with pytest.raises(ProgramError, match="cannot be run"):
        run_program([str(site.programs / "none")], out, seconds=1)
    out.close()


def test_a_child_that_outlives_it_and_holds_its_output_is_not_waited_for(site: Site) -> None:
    began = time.monotonic()
    run(site, "#!/bin/sh\nsleep 600 &\necho done\n", seconds=120)
    assert within(60, began)
    assert (site.root / "out").read_text() == "done\n"


def test_a_file_that_it_writes_is_bounded(site: Site) -> None:
    with pytest.raises(ProgramError):
        run(site, "#!/bin/sh\nexec head -c 1000000 /dev/zero > big\n", file_limit=4096)
    assert (site.root / "big").stat().st_size == 4096


def test_it_hears_nothing_of_our_environment(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    run(site, "#!/bin/sh\nenv\n")
    assert "hunter2" not in (site.root / "out").read_text()
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "hunter2"


def test_of_what_one_says_the_end_is_kept_and_that_it_was_cut(site: Site) -> None:
    site.program("x", f"#!/bin/sh\nhead -c {KEPT_BYTES} /dev/zero\necho\necho the end\nexit 4\n")
    said = programs.run([str(site.programs / "x")], 60)
    assert said.output.endswith("the end\n")
    assert (len(said.output), said.cut, said.ok, said.status) == (KEPT_BYTES, True, False, 4)
    assert str(said).endswith("ended with status 4: the end")


def test_complaints_are_left_out_on_request(site: Site) -> None:
    site.program("x", "#!/bin/sh\necho one\necho two >&2\n")
    words = [str(site.programs / "x")]
    assert (programs.run(words, 60).output, programs.run(words, 60, errors=False).output) == ("one\ntwo\n", "one\n")


def test_one_that_did_not_begin_or_end_has_no_status(site: Site) -> None:
    site.program("x", "#!/bin/sh\nexec sleep 60\n")
    assert programs.run([str(site.programs / "none")], 1).status is None
    assert programs.run([str(site.programs / "x")], 0.2).status is None
