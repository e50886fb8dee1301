"""What the demo leaves beside the objects of its archive."""

import subprocess
from pathlib import Path

import pytest

from console.archive.time_scale import time_scale_of
from functions.adapters.archive_folder import FolderArchive
from local.demo.archiving import mark
from policies.contract.archive_names import FAMILIES
from policies.contract.errors import DependencyError


def test_an_archive_tells_its_time_scale_and_no_git_sees_it_under_any_name(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    archive = tmp_path / "kept of tuesday"
    archive.mkdir()
    (archive / "events").mkdir()
    (archive / "events" / "an object").write_bytes(b"x")
    mark(archive, 0.05)
    assert time_scale_of(str(archive)) == 0.05
    status = ["git", "-C", str(tmp_path), "status", "--porcelain", "--untracked-files=all"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""
    assert [FolderArchive(archive).days(family) for family in FAMILIES] == [[], [], []], "they are no objects"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match="none: "):
        mark(tmp_path / "none", 0.05)
