import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.evidence import bounded
from agent.evidence.bounded import BoundedFile, chunks, names_below, open_below


def no_openat2(folder: int, path: str, flags: int) -> int:
    raise OSError(38, "Function not implemented", path)


@pytest.fixture(params=["openat2", "part by part"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "openat2":
        monkeypatch.setattr(bounded, "_openat2", no_openat2)
    return str(request.param)


def read(root: Path, path: str) -> bytes:
    descriptor = open_below(root, path)
    try:
        return b"".join(chunks(descriptor, 1000))
    finally:
        os.close(descriptor)


def test_a_file_takes_what_fits_and_says_that_there_was_more(tmp_path: Path) -> None:
    out = BoundedFile(tmp_path / "x", 10)
    assert out.write(b"12345678")
    assert not out.write(b"9abc")
    out.write(b"more")
    out.close()
    assert (tmp_path / "x").read_bytes() == b"123456789a"
    assert (out.size, out.cut) == (10, True)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o600


def test_the_end_of_a_file_is_what_was_said_last(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a" * 100_000 + b"end")
    descriptor = open_below(tmp_path, "/x")
    assert b"".join(chunks(descriptor, 5, tail=True)) == b"aaend"
    os.close(descriptor)


def test_a_file_below_the_root_is_read(tmp_path: Path, way: str) -> None:
    (tmp_path / "root" / "tmp").mkdir(parents=True)
    (tmp_path / "root" / "tmp" / "x").write_bytes(b"inside")
    assert read(tmp_path / "root", "/tmp/x") == b"inside"
    assert names_below(tmp_path / "root", "/tmp", 10) == ["x"]


@pytest.mark.parametrize(
    "plant",
    [
        lambda root, secret: (root / "x").symlink_to(secret),
        lambda root, secret: (root / "x").symlink_to("../secret"),
        lambda root, secret: os.mkfifo(root / "x"),
        lambda root, secret: (root / "x").mkdir(),
    ],
    ids=["absolute link", "relative link", "fifo", "folder"],
)
def test_nothing_but_a_regular_file_of_the_root_is_opened(
    tmp_path: Path, way: str, plant: Callable[[Path, Path], object]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_bytes(b"outside")
    plant(root, tmp_path / "secret")
    with pytest.raises(OSError, match=r".+"):
        open_below(root, "x")


def test_a_folder_that_is_a_link_never_leads_out_of_the_root(tmp_path: Path, way: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x").write_bytes(b"outside")
    (root / "d").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match=r".+"):
        open_below(root, "d/x")
    with pytest.raises(OSError, match=r".+"):
        names_below(root, "d", 10)
    with pytest.raises(OSError, match="no path below"):
        open_below(root, "../outside/x")


def test_a_link_within_the_root_is_seen_as_the_process_sees_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "run").mkdir(parents=True)
    (root / "var").mkdir()
    (root / "run" / "x").write_bytes(b"inside")
    (root / "var" / "run").symlink_to("/run")
    assert read(root, "/var/run/x") == b"inside"


def test_a_file_of_another_user_is_not_what_the_process_wrote(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    os.close(open_below(tmp_path, "x", owner=os.getuid()))
    with pytest.raises(OSError, match="another user"):
        open_below(tmp_path, "x", owner=os.getuid() + 1)
