"""A world that is held open: for how long, what a terminal learns of it, and what breaks on request."""

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.demo.errors import DemoError
from local.demo.holding import Held, asked, environment_text, hold
from local.fleet.fleet import Fault

PROGRAMS = Path("/opt/it's here/bin")
SETTINGS = {"AWS_ENDPOINT_URL": "http://127.0.0.1:4566", "AWS_REGION": "us-east-1", "POLICIES_TABLE": "T's"}


class Twin:
    """A world without parts; its clock moves with each pause, and at each pause a person may do something."""

    def __init__(self, data_dir: Path, *, lives: float = 1e9, well: int = 9) -> None:
        self.data_dir = data_dir
        self.time = 0.0
        self.broken: list[int] = []
        self.writes: list[str] = []
        self._lives = lives
        self._well = well

    def environment(self) -> Mapping[str, str]:
        return SETTINGS

    def is_running(self) -> bool:
        return self.time < self._lives

    def break_another(self, xid: int) -> Fault | None:
        self.broken.append(xid)
        is_one_left = len(self.broken) <= self._well
        return Fault("i-1", "n1", 3, xid, datetime(2026, 1, 1, tzinfo=UTC)) if is_one_left else None

    def pause(self, seconds: float) -> None:
        self.time += seconds
        if self.writes:
            (self.data_dir / "break").write_text(self.writes.pop(0))


def held(world: Twin, minutes: int = 1) -> tuple[list[Held], list[Fault]]:
    told: list[Held] = []
    broken: list[Fault] = []
    hold(
        world, minutes, PROGRAMS, told.append, broken.append, monotonic=lambda: world.time, pause=world.pause
    )  # fmt: skip
    return told, broken


def test_it_is_told_once_how_to_speak_to_it_and_ends_when_its_time_is_over(tmp_path: Path) -> None:
    world = Twin(tmp_path)
    told, broken = held(world, minutes=3)
    assert world.time == 180
    assert told == [Held(tmp_path / "env", tmp_path / "break", 3)]
    assert told[0].env_file.read_text() == environment_text(SETTINGS, PROGRAMS)
    assert broken == []


def test_a_world_that_ends_by_itself_is_not_held_on(tmp_path: Path) -> None:
    world = Twin(tmp_path, lives=20)
    with pytest.raises(DemoError, match=r"server\.log"):
        held(world)
    assert world.time == 20


def test_a_gpu_breaks_once_for_each_xid_that_is_written_and_for_nothing_else(tmp_path: Path) -> None:
    world = Twin(tmp_path)
    world.writes = ["79\n", "", "94", "0", "x" * 1000, "-1", "1e3", "79; rm", "²"]
    _, broken = held(world)
    assert [fault.xid for fault in broken] == world.broken == [79, 94]
    assert not (tmp_path / "break").exists()


def test_where_no_node_is_well_nothing_is_told(tmp_path: Path) -> None:
    world = Twin(tmp_path, well=1)
    world.writes = ["79", "79"]
    _, broken = held(world)
    assert (len(broken), world.broken) == (1, [79, 79])


def test_a_file_that_the_shell_has_just_made_waits_for_its_word(tmp_path: Path) -> None:
    file = tmp_path / "break"
    file.touch()
    assert asked(file) is None
    assert file.exists()
    file.write_text("95\n")
    assert (asked(file), asked(file)) == (95, None)


def test_what_a_terminal_knew_of_aws_is_forgotten(tmp_path: Path) -> None:
    """Nothing that leads elsewhere counts any more: no address of one service, no profile, no proxy."""
    file = tmp_path / "it's env"
    file.write_text(environment_text(SETTINGS, PROGRAMS))
    before = {
        "PATH": os.environ["PATH"],
        "AWS_ENDPOINT_URL_S3": "https://s3.example.com",
        "AWS_PROFILE": "prod",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true",
        "AWS_SESSION_TOKEN": "a\nAWS_REGION=b",
        "POLICIES_TABLE": "prod",
        "NO_PROXY": "example.com",
        "https_proxy": "http://127.0.0.1:9",
    }
    script = f"set -eu; {Held(file, file, 1).source}; env -0"
    run = subprocess.run(["sh", "-c", script], env=before, capture_output=True, text=True, timeout=60, check=True)
    after = dict(line.split("=", 1) for line in run.stdout.split("\0") if line)
    assert {name: value for name, value in after.items() if name.startswith(("AWS_", "POLICIES"))} == SETTINGS
    assert after["no_proxy"] == after["NO_PROXY"] == "127.0.0.1,example.com"
    assert after["PATH"] == f"{PROGRAMS}:{before['PATH']}"
