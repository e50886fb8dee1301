from pathlib import Path

import pytest

from agent.check_result import CheckResult
from agent.check_show import as_json, lines
from agent.rights import missing, one_line, own_capabilities
from agent.settings import Settings

ALL, NONE = (1 << 64) - 1, 0
NOBODY = 65534


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "kernel.log").touch()
    return Settings.model_validate(
        {"cluster": "c", "stream": "s", "kernel_log": str(tmp_path / "kernel.log"), "journal_units": []}
    )


def off(settings: Settings, capabilities: int, user: int) -> dict[str, str]:
    return {one.what: one.cure for one in missing(settings, capabilities, user)}


def test_root_lacks_nothing(settings: Settings) -> None:
    assert off(settings, ALL, 0) == {}


def test_each_capability_that_is_missing_says_what_it_costs(settings: Settings) -> None:
    told = off(settings, NONE, NOBODY)
    assert told["kernel stacks of processes"] == "CAP_SYS_ADMIN"
    assert told["other users' files"] == "CAP_DAC_READ_SEARCH"
    assert set(off(settings, ALL & ~(1 << 19), NOBODY).values()) == {"CAP_SYS_PTRACE"}


def test_all_that_is_off_is_one_line_that_says_how_to_turn_it_on(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.rights.own_capabilities", lambda: NONE)
    monkeypatch.setattr("os.geteuid", lambda: NOBODY)
    line = one_line(settings)
    assert line.startswith("not root: off are ")
    assert "give CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_DAC_READ_SEARCH" in line
    assert "\n" not in line
    monkeypatch.setattr("agent.rights.own_capabilities", lambda: ALL)
    assert one_line(settings) == ""


def test_our_own_capabilities_are_what_the_kernel_says() -> None:
    said = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff"))
    assert own_capabilities() == int(said.split()[1], 16)


def test_checks_are_shown_by_what_works_and_only_failures_fail() -> None:
    results = [
        CheckResult("a", ok=False, found="broken.", hint="Mend it."),
        CheckResult("b", ok=True, found="fine"),
        CheckResult("c", ok=True, found="no EFA", is_here=False),
        CheckResult("d", ok=True, found="stacks: off", hint="It takes root.", allowed=False),
    ]
    shown = list(lines(results))
    assert [line.text.strip() for line in shown] == [
        "works:", "ok    b               fine",
        "not here:", "-     c               no EFA",
        "not allowed:", "off   d               stacks: off", "It takes root.",
        "fails:", "FAIL  a               broken.", "Mend it.",
    ]  # fmt: skip
    assert max(line.status for line in shown) == 1
    assert max(line.status for line in lines(results[1:])) == 0
    assert as_json(results).status == 1
    assert as_json(results[1:]).status == 0
