"""An hour of a node's logs, written in less: ordinary lines, faults, storms and rotation, with a ledger of what it is.

The kernel's clock is virtual: lines of an hour carry the times of an hour. The ledger counts lines by what tells them
apart in an event, so that the counts of all events of one key must add up to it.
"""

import json
import random
from collections import Counter
from pathlib import Path

from policies.contract.events import FaultEvent

MICROSECONDS = 1_000_000
VIRTUAL_SECONDS = 3600
RANKS = 4
_KEPT = 6  # rotated files
_CODES = (13, 31, 43, 63, 79, 94, 119)
_ORDINARY = (
    "IPv6: ADDRCONF(NETDEV_CHANGE): calia3f11b97c70: link becomes ready",
    'audit: type=1400 audit(1769846400.123:42): apparmor="DENIED" operation="open" class="file" comm="python3"',
    "EXT4-fs (nvme1n1): mounted filesystem with ordered data mode. Quota mode: none.",
    "nvidia-nvlink: Nvlink Core is being initialized, major device number 509",
    "TCP: request_sock_TCP: Possible SYN flooding on port 29500. Sending cookies.",
)
_TIMEOUT = (
    "[rank{rank}]: [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={n}, OpType=ALLREDUCE)"
)
_MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.00 MiB"
_OOM = 'level=info msg="TaskOOM event container_id:\\"{n:012x}\\""'
Key = tuple[str, ...]


class NodeLogs:
    """The files of one node."""

    def __init__(self, folder: Path, seed: int = 7) -> None:
        self.kernel = folder / "kernel.log"
        self.ranks = [folder / "ranks" / f"rank{rank}.log" for rank in range(RANKS)]
        self.journal = folder / "journal"
        (folder / "ranks").mkdir(parents=True)
        self.kernel.touch()
        self.journal.touch()
        self.written: Counter[Key] = Counter()
        self.lines = 0
        self.virtual = 0.0
        self._chance = random.Random(seed)
        self._faults = 0

    def live(self, seconds: float) -> None:
        """Write what happens in *seconds* of the node's time."""
        kernel: list[str] = []
        end = self.virtual + seconds
        while self.virtual < end:
            self.virtual += 0.05  # twenty lines a second
            kernel.append(self._kernel_line(self._chance.choice(_ORDINARY)))
            if self._chance.random() < 0.02:
                kernel.append(self._fault())
        self._append(self.kernel, kernel)
        for rank, path in enumerate(self.ranks):
            self._append(path, self._rank(rank, int(seconds) + 1))
        if self._chance.random() < 0.5:
            self._service()

    def storm(self, lines: int) -> None:
        """Write one fault *lines* times, as fast as a broken driver does: ten thousand a second."""
        self._faults += 1
        pci = f"{self._faults >> 13 & 0xFFFF:04x}:{self._faults >> 5 & 0xFF:02x}:{self._faults & 31:02x}"
        text = f"NVRM: Xid (PCI:{pci}): 31, pid=1, name=python, Ch 00000008"
        found = []
        for _ in range(lines):
            self.virtual += 0.0001
            found.append(self._kernel_line(text))
        self.written["gpu.xid", pci, "31"] += lines
        self._append(self.kernel, found)

    def rotate(self) -> None:
        """Rename every file that has something, as logrotate does."""
        for path in (self.kernel, *self.ranks):
            if path.exists() and path.stat().st_size:
                for number in range(_KEPT, 0, -1):
                    older = path.with_name(f"{path.name}.{number}")
                    if older.exists():
                        older.replace(path.with_name(f"{path.name}.{number + 1}"))
                path.rename(path.with_name(f"{path.name}.1"))
                path.with_name(f"{path.name}.{_KEPT + 1}").unlink(missing_ok=True)
                path.touch()

    def _fault(self) -> str:
        self._faults += 1
        pci = f"{self._faults >> 13 & 0xFFFF:04x}:{self._faults >> 5 & 0xFF:02x}:{self._faults & 31:02x}"
        code = self._chance.choice(_CODES)
        self.written["gpu.xid", pci, str(code)] += 1
        return self._kernel_line(f"NVRM: Xid (PCI:{pci}): {code}, pid='<unknown>', name=<unknown>, something broke")

    def _kernel_line(self, text: str) -> str:
        self.lines += 1
        return f"4,{self.lines},{int(self.virtual * MICROSECONDS)},-;{text}\n"

    def _rank(self, rank: int, steps: int) -> list[str]:
        found = [f"step: {int(self.virtual)}  loss: 2.3  memory: 60GiB\n" for _ in range(steps)]
        if self._chance.random() < 0.1:
            self.written["training.collective_timeout", str(rank)] += 1
            found.append(_TIMEOUT.format(rank=rank, n=self.lines) + "\n")
        if self._chance.random() < 0.1:
            self.written["training.out_of_memory", str(rank)] += 1
            found.append(_MEMORY.format(n=self.lines) + "\n")
        self.lines += len(found)
        return found

    def _service(self) -> None:
        self._faults += 1
        self.lines += 1
        self.written["container.oom_kill", f"{self._faults:012x}"] += 1
        self._append(self.journal, [json.dumps({"MESSAGE": _OOM.format(n=self._faults)}) + "\n"])

    def _append(self, path: Path, lines: list[str]) -> None:
        with path.open("a") as file:
            file.write("".join(lines))


def key_of(event: FaultEvent) -> Key:
    """Return where the ledger counts *event*."""
    told = event.attributes
    if event.kind.startswith("gpu."):
        pci = event.component.pci if event.component and event.component.pci else ""
        return event.kind.value, pci, str(told["xid"])
    if event.kind.startswith("training."):
        return event.kind.value, str(told["rank"])
    return event.kind.value, str(told.get("container", told.get("reason", "")))
