"""The ranks of the job as real processes, one a node: started and ended with their pod, stopped or killed by faults.

They beat only as the job steps, so what stalls the job stops all beats, as a collective does. It must not know why a
rank is stopped.
"""

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from local.fleet import cgroups
from local.fleet.gang import Member
from local.fleet.machines import MachineRoom
from local.fleet.nodes import GPUS_PER_NODE

_SCRIPT = Path(__file__).with_name("rank.py")
_STOP_SECONDS = 2.0


@dataclass
class Rank:
    """The process of one pod."""

    member: Member
    process: subprocess.Popen[bytes]
    beat_file: Path
    link: Path  # how the node's own /proc shows it

    @property
    def is_stuck(self) -> bool:
        """Whether it is stopped or dead: its peers wait for it in their collective."""
        try:
            state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        return state in "TtZX"


class Ranks:
    """All of them. One driver calls `follow` and `beat`; faults may come from elsewhere."""

    def __init__(self, room: MachineRoom, header: dict[str, object]) -> None:
        """*header* is what every rank says of the job."""
        self._room = room
        self._header = header
        self._ranks: dict[tuple[str, int], Rank] = {}  # by the pod's uid and how often its container was started again

    def follow(self, members: Sequence[Member]) -> None:
        """Start the ranks of new *members*, end those of pods that are gone."""
        wanted = {_key(member): member for member in members}
        for key in self._ranks.keys() - wanted.keys():
            self._end(self._ranks.pop(key))
        for key in wanted.keys() - self._ranks.keys():
            self._ranks[key] = self._start(wanted[key], len(members))

    def beat(self, step: int, phase: int, saved: int = -1) -> None:
        """Let every rank beat once; *saved* is the step of the newest whole checkpoint."""
        for rank in list(self._ranks.values()):
            assert rank.process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                rank.process.stdin.write(b"%d %d %d\n" % (step, phase, saved))
                rank.process.stdin.flush()

    def is_stuck(self, member: Member) -> bool:
        """Whether the rank of this pod holds its peers up."""
        rank = self._ranks.get(_key(member))
        return rank is not None and rank.is_stuck

    def of_node(self, node: str) -> Rank | None:
        """The rank on this node."""
        return next((rank for rank in list(self._ranks.values()) if rank.member.node == node), None)

    def stop(self, node: str) -> None:
        """SIGSTOP: it hangs, with no word."""
        self._signal(node, signal.SIGSTOP)

    def kill(self, node: str) -> None:
        """SIGKILL, as the kernel does for want of memory."""
        self._signal(node, signal.SIGKILL)

    def close(self) -> None:
        """End all."""
        self.follow(())

    def _signal(self, node: str, how: signal.Signals) -> None:
        rank = self.of_node(node)
        if rank is not None:
            rank.process.send_signal(how)

    def _start(self, member: Member, world: int) -> Rank:
        machine = self._room.of_node(member.node)
        assert machine is not None
        number = member.rank * GPUS_PER_NODE
        told = {"rank": number, "local_rank": 0, "world_size": world * GPUS_PER_NODE, "pod": member.name}
        beat_file = machine.beats / f"{member.uid}.beat"
        beat_file.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps({**self._header, **told, "started_at": member.uid})
        command = [sys.executable, "-I", "-S", str(_SCRIPT), str(beat_file), header]
        process = subprocess.Popen(command, stdin=subprocess.PIPE)
        link = machine.show_process(process.pid)
        cgroups.make(machine.sysfs, member.uid)
        return Rank(member, process, beat_file, link)

    def _end(self, rank: Rank) -> None:
        """Let it end by itself; one that is stopped or slow is killed. What is dead leaves its file, as in life."""
        assert rank.process.stdin is not None
        with contextlib.suppress(OSError):
            rank.process.stdin.close()
        if rank.is_stuck:
            rank.process.kill()
        try:
            rank.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            rank.process.kill()
            rank.process.wait()
        rank.link.unlink(missing_ok=True)
        rank.beat_file.unlink(missing_ok=True)


def _key(member: Member) -> tuple[str, int]:
    return member.uid, member.restarts
