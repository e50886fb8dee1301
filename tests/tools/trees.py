"""Lays out a shape of tests/data/trees as a /sys: folders, files, links."""

import os
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

DATA = Path(__file__).parents[1] / "data" / "trees"
_SECTION = re.compile(r"\[(\w+)((?: \w+)*)\]")
Template = tuple[list[str], list[str]]


def shapes() -> list[str]:
    """Return the names of all shapes."""
    return sorted(path.stem for path in DATA.glob("*.txt") if path.stem != "templates")


def lay_out(shape: str, sysfs: Path) -> Path:
    """Make the tree of *shape* in the folder *sysfs*, which is then as /sys; return it."""
    for line in _lines((DATA / f"{shape}.txt").read_text(encoding="utf-8")):
        for entry in [line] if line.startswith("/") else _expand(line):
            _make(sysfs, entry)
    return sysfs


def write(path: Path, value: object) -> None:
    """Write *value* as sysfs shows it."""
    path.write_text(f"{value}\n", encoding="utf-8")


def port(sysfs: Path, device: str, number: int = 1) -> Path:
    """Return the folder of one port of the RDMA *device*."""
    return sysfs / "class/infiniband" / device / "ports" / str(number)


def remove_device(sysfs: Path, device: str, *, from_bus: bool = False) -> None:
    """Take the RDMA *device* away, as its driver does; with *from_bus* its PCI function, too."""
    link = sysfs / "class/infiniband" / device
    folder = link.resolve()
    function = (folder / "device").resolve()
    link.unlink()
    _remove(folder)
    if from_bus:
        (sysfs / "bus/pci/devices" / function.name).unlink()
        _remove(function)


def _remove(folder: Path) -> None:
    for path, folders, files in os.walk(folder, topdown=False):
        for name in files:
            Path(path, name).unlink()
        for name in folders:
            one = Path(path, name)
            one.unlink() if one.is_symlink() else one.rmdir()
    folder.rmdir()


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))


@cache
def _templates() -> dict[str, Template]:
    found: dict[str, Template] = {}
    entries: list[str] = []
    for line in _lines((DATA / "templates.txt").read_text(encoding="utf-8")):
        if match := _SECTION.fullmatch(line):
            entries = []
            found[match[1]] = (match[2].split(), entries)
        elif line.startswith("+ "):
            entries += found[line[2:]][1]
        else:
            entries.append(line)
    return found


def _expand(line: str) -> Iterator[str]:
    name, *values = shlex.split(line)
    words, entries = _templates()[name]
    given = dict(zip(words, values, strict=True))
    return (entry.format(**given) for entry in entries)


def _make(sysfs: Path, entry: str) -> None:
    if " -> " in entry:
        name, target = entry.split(" -> ")
        link, leads = sysfs / name[1:], sysfs / target[1:]
        link.parent.mkdir(parents=True, exist_ok=True)
        # As the kernel does (fs/kernfs/symlink.c): up to what holds the target, then down to it by its name.
        link.symlink_to(Path(os.path.relpath(leads.parent, link.parent), leads.name))
    elif " = " in entry:
        name, value = entry.split(" = ", 1)
        path = sysfs / name[1:]
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, value.replace("\\n", "\n"))
    else:
        (sysfs / entry[1:]).mkdir(parents=True, exist_ok=True)
