from pathlib import Path

import pytest

from agent.driver import LoadedDriver, version_file
from policies.contract.catalog.nvlink5 import DriverLayout

OLD = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08  Thu May  1 01:23:45 UTC 2025\nGCC version:  gcc 13\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (root@host)\n"


@pytest.mark.parametrize(("text", "layout"), [(OLD, DriverLayout.BEFORE_575), (OPEN, DriverLayout.FROM_575)])
def test_the_loaded_driver_says_its_version(tmp_path: Path, text: str, layout: DriverLayout) -> None:
    path = tmp_path / "version"
    path.write_text(text)
    assert LoadedDriver(path=path)() is layout


def test_the_setting_wins(tmp_path: Path) -> None:
    path = tmp_path / "version"
    path.write_text(OLD)
    assert LoadedDriver("R580", path)() is DriverLayout.FROM_575
    assert LoadedDriver("nonsense", path)() is DriverLayout.BEFORE_575


@pytest.mark.parametrize("text", ["", "NVRM version: \n", "\x00\xff"])
def test_a_file_that_says_nothing_is_no_driver(tmp_path: Path, text: str) -> None:
    path = tmp_path / "version"
    path.write_text(text)
    assert LoadedDriver(path=path)() is None


def test_a_driver_loaded_later_is_seen_within_a_minute(tmp_path: Path) -> None:
    path, now = tmp_path / "version", [0.0]
    driver = LoadedDriver(path=path, monotonic=lambda: now[0])
    assert driver() is None
    path.write_text(OPEN)
    now[0] = 59.0
    assert driver() is None
    now[0] = 60.0
    assert driver() is DriverLayout.FROM_575


@pytest.mark.parametrize(("text", "version"), [(OLD, "570.148.08"), (OPEN, "580.95.05"), ("", ""), ("x 570.1 y", "")])
def test_the_version_is_what_the_driver_says_of_itself(tmp_path: Path, text: str, version: str) -> None:
    path = version_file(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert LoadedDriver(path=path).version() == version


@pytest.mark.parametrize(
    ("setting", "version"), [("535.183.01", "535.183.01"), ("R580", "570.148.08"), ("580", "570.148.08")]
)
def test_a_setting_that_names_only_the_branch_is_no_version(tmp_path: Path, setting: str, version: str) -> None:
    path = tmp_path / "version"
    path.write_text(OLD)
    assert LoadedDriver(setting, path).version() == version


def test_a_driver_that_is_replaced_is_told_anew_and_until_then_the_one_before(tmp_path: Path) -> None:
    path, now = tmp_path / "version", [0.0]
    path.write_text(OLD)
    driver = LoadedDriver(path=path, monotonic=lambda: now[0])
    assert driver.version() == "570.148.08"
    path.unlink()
    now[0] = 61.0
    assert (driver.version(), driver()) == ("570.148.08", None)
    path.write_text(OPEN)
    now[0] = 122.0
    assert driver.version() == "580.95.05"


def test_the_file_is_read_at_most_once_a_minute_however_often_somebody_asks(tmp_path: Path) -> None:
    path, now = tmp_path / "version", [0.0]
    path.write_text(OLD)
    driver = LoadedDriver(path=path, monotonic=lambda: now[0])
    assert driver.version() == "570.148.08"
    path.write_text(OPEN)
    now[0] = 59.0
    assert driver.version() == "570.148.08"


def test_a_changed_setting_is_believed_at_once(tmp_path: Path) -> None:
    path = tmp_path / "version"
    path.write_text(OLD)
    driver = LoadedDriver("580.95.05", path)
    assert driver.version() == "580.95.05"
    driver.believe("", path)
    assert (driver.version(), driver()) == ("570.148.08", DriverLayout.BEFORE_575)
