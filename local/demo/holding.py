"""The demo's world, held open after its story for a person to practise on.

Decides for how long, what a terminal needs to speak to this world and to no other, and what breaks there on request. It
must not know how any of that is told, nor what ends the demo from outside.
"""

import re
import shlex
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from local.demo.errors import DemoError
from local.fleet.fleet import Fault

_LOOK_SECONDS = 0.5
_XID = re.compile(r"[1-9][0-9]{0,2}")  # NVIDIA numbers them with three digits at most
_MOST_BYTES = 16


class World(Protocol):
    """What is held: a `LocalCluster`, or a twin of it."""

    data_dir: Path

    def environment(self) -> Mapping[str, str]:
        """The variables with which `relight` speaks to this world."""

    def is_running(self) -> bool:
        """Whether its AWS still answers."""

    def break_another(self, xid: int) -> Fault | None:
        """Let a GPU of a node that is well fail with this Xid; None when no node is well."""


@dataclass(frozen=True, slots=True)
class Held:
    """A world that stays open: what to source, for how many minutes, and the file that takes an Xid to break by."""

    env_file: Path
    break_file: Path
    minutes: int

    @property
    def source(self) -> str:
        """The line that lets another terminal speak to it."""
        return f". {shlex.quote(str(self.env_file))}"


def hold(
    world: World,
    minutes: int,
    programs: Path,
    on_held: Callable[[Held], None],
    on_broken: Callable[[Fault], None],
    *,
    monotonic: Callable[[], float] = time.monotonic,
    pause: Callable[[float], object] = lambda seconds: threading.Event().wait(seconds),
) -> None:
    """Return after so many *minutes*; what ends it sooner raises here. `relight` lies in *programs*.

    Raises:
        DemoError: the world ended by itself.
    """
    held = Held(world.data_dir / "env", world.data_dir / "break", minutes)
    held.env_file.write_text(environment_text(world.environment(), programs), encoding="utf-8")
    on_held(held)
    end = monotonic() + minutes * 60
    while (left := end - monotonic()) > 0:
        if not world.is_running():
            raise DemoError("the embedded AWS ended by itself while it was held open. Its server.log says why.")
        xid = asked(held.break_file)
        fault = world.break_another(xid) if xid else None
        if fault:
            on_broken(fault)
        pause(min(_LOOK_SECONDS, left))


def asked(file: Path) -> int | None:
    """Take the Xid that a person wrote into *file*, once; None while there is none. What is no Xid is thrown away."""
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode("ascii", "replace").strip()
        if text:  # else the shell has made it and is about to write
            file.unlink()
    except OSError:
        return None
    return int(text) if _XID.fullmatch(text) else None


def environment_text(settings: Mapping[str, str], programs: Path) -> str:
    """Return what a POSIX shell sources to speak to this world alone.

    Whatever the terminal knew of AWS is forgotten first: an address of one service (AWS_ENDPOINT_URL_S3) would count
    before that of all, and a profile or AWS_IGNORE_CONFIGURED_ENDPOINT_URLS would lead to a real account. A proxy does
    not reach this machine's loopback.
    """
    own = r"env | sed -n 's/^\(AWS_[A-Za-z0-9_]*\)=.*/\1/p'"
    proxies = '"127.0.0.1,${no_proxy:-${NO_PROXY:-}}"'
    return "\n".join([
        "# Relight's demo, held open: an AWS on this machine's loopback. For one terminal; close that afterwards.",
        f'for relight_name in $({own}); do unset "$relight_name"; done; unset relight_name',
        *(f"export {name}={shlex.quote(value)}" for name, value in settings.items()),
        f'export no_proxy={proxies}; export NO_PROXY="$no_proxy"',
        f'export PATH={shlex.quote(str(programs))}:"$PATH"',
        "",
    ])  # fmt: skip
