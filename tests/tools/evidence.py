"""A node to collect evidence on: trees, fake programs in a PATH folder, a collector over them."""

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent.evidence.collection import Limits
from agent.evidence.collector import EvidenceCollector
from agent.evidence.parts import Place
from agent.evidence.request import EvidenceManifest, EvidencePart
from agent.evidence.store import EvidenceStore
from agent.evidence.upload import Uploader
from agent.main import utc_now
from agent.own import OwnWork
from tests.tools.sources import NODE

HANGS = "#!/bin/sh\necho begun\nsleep 600 &\nwait\n"
FLOODS = "#!/bin/sh\nwhile :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done\n"
FAILS = "#!/bin/sh\necho no device\nexit 9\n"


@dataclass(slots=True)
class Site:
    """Folders of one test."""

    root: Path

    @property
    def programs(self) -> Path:
        """What stands first in PATH."""
        return self.root / "bin"

    @property
    def place(self) -> Place:
        """Where the collector looks: our own /proc, and trees of the test."""
        return Place(
            Path("/proc"), self.root / "sys", self.root / "kernel.log", self.root / "beats", (str(self.root / "log"),)
        )

    def prepare(self) -> None:
        """Make the folders."""
        for name in ("bin", "beats", "sys", "evidence"):
            (self.root / name).mkdir()
        (self.root / "kernel.log").write_text("NVRM: Xid (PCI:0000:4b:00): 79, GPU has fallen off the bus.\n")
        (self.root / "log").write_text("step 1\n")

    def program(self, name: str, text: str) -> None:
        """Let there be a program."""
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def store(self, max_bytes: int = 1 << 30) -> EvidenceStore:
        """The folder of the evidence."""
        return EvidenceStore(self.root / "evidence", NODE.instance_id, NODE.boot_id, max_bytes)

    def collector(
        self,
        limits: Limits | None = None,
        uploader: Uploader | None = None,
        store: EvidenceStore | None = None,
        events: Iterable[str] = (),
    ) -> EvidenceCollector:
        """A collector on this site."""
        return EvidenceCollector(
            NODE,
            store or self.store(),
            lambda: self.place,
            limits=limits or Limits(),
            clock=utc_now,
            own=OwnWork(utc_now),
            events=lambda: events,
            uploader=uploader,
        )


def part(manifest: EvidenceManifest, name: str) -> EvidencePart:
    """Return the part of this name."""
    return next(one for one in manifest.parts if one.name == name)


def group_is_gone(group: int) -> bool:
    """Tell whether no process of this group lives."""
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            return False
    return True


def within(seconds: float, began: float) -> bool:
    """Tell whether no more than so many seconds have passed."""
    return time.monotonic() - began <= seconds


def own_path(programs: Path) -> str:
    """PATH with these programs first."""
    return f"{programs}{os.pathsep}{os.environ['PATH']}"
