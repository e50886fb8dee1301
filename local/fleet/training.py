"""A training job on the fleet: it advances only while every rank runs on healthy GPUs, and saves every so many steps.

One `tick` is one step, or one file of a save under way; who drives it decides how fast. A broken GPU, or one rank that
is stuck or dead, stalls all ranks where they are, as a hung collective does: a save in that moment stays torn. It must
not know who repairs what.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from local.fleet import dcp
from local.fleet.checkpoints import CheckpointStore
from local.fleet.gang import Gang, Member
from local.fleet.resuming import PROGRESS, starting_step
from policies.contract.times import format_time


class Tear(StrEnum):
    """What a save leaves behind that was under way when a GPU broke."""

    NO_METADATA = "no_metadata"  # the ranks hang before rank 0 writes .metadata
    SHORT_SHARD = "short_shard"  # a sidecar mirrors up what lay on local disk: all files, one of them cut


@dataclass(frozen=True, slots=True)
class Pace:
    """How often things happen, in steps, and how many of its newest checkpoints the run keeps."""

    checkpoint_every: int = 20
    keep: int = 100
    progress_every: int = 5
    gpus_per_node: int = 8


@dataclass
class Save:
    """A save under way: what is still to be written, in order, `.metadata` last."""

    checkpoint: dcp.Checkpoint
    left: list[tuple[str, bytes]]
    written: int = 0


@dataclass
class Record:
    """What an observer may read of the job's life."""

    starts: list[tuple[int, datetime]] = field(default_factory=list)  # (step it started from, when)
    save_begun: dict[int, datetime] = field(default_factory=dict)  # when each step was first being saved
    first_saved: dict[int, datetime] = field(default_factory=dict)  # when each step's checkpoint was first whole
    saved: dict[int, datetime] = field(default_factory=dict)  # and when last
    stalled_at: datetime | None = None
    crashes: int = 0


class Training:
    """The job. Not thread-safe: one driver ticks, others only read `step`, `record`, `saving` and `is_stalled`."""

    def __init__(
        self,
        gang: Gang,
        store: CheckpointStore,
        *,
        is_broken: Callable[[str], bool],
        now: Callable[[], datetime],
        is_stuck: Callable[[Member], bool] = lambda _member: False,
        pace: Pace | None = None,
        tear: Tear = Tear.NO_METADATA,
    ) -> None:
        self._gang = gang
        self._store = store
        self._is_broken = is_broken
        self._is_stuck = is_stuck
        self._now = now
        self._pace = pace or Pace()
        self._tear = tear
        self._members: Sequence[Member] = ()
        self._resumed_from = 0
        self._kept: dict[int, tuple[str, ...]] = {}  # step -> the files of its checkpoint, oldest first
        self.step = 0
        self.saving: Save | None = None
        self.record = Record()

    @property
    def is_running(self) -> bool:
        """Whether the process group stands (it may be stalled)."""
        return bool(self._members)

    @property
    def is_stalled(self) -> bool:
        return self.is_running and self.record.stalled_at is not None

    def tick(self) -> None:
        """One step of training, or one file of a save, or nothing when the gang is not whole or hangs."""
        members = self._gang.members()
        if members != self._members:
            self._regroup(members)
        if not self._members or self._is_hanging():
            return
        if self.saving is not None:
            self._write_next(self.saving)
        else:
            self._advance()

    def _regroup(self, members: Sequence[Member]) -> None:
        """The process group fell apart, or a new one stands: load the checkpoint it is told to start from."""
        self._members, self.saving, self.record.stalled_at = (), None, None
        if not members:
            return
        step = starting_step(self._store, members[0].annotations, self.record.saved)
        if step and not self._can_load(step):
            self.record.crashes += 1
            self._gang.crash(members[0], exit_code=1)
            return
        self._members = members
        self.step = self._resumed_from = step
        self.record.starts.append((step, self._now()))

    def _can_load(self, step: int) -> bool:
        sizes = self._store.sizes()
        wanted = self._checkpoint(step)
        whole = all(sizes.get(f"{wanted.folder}/{name}") == len(data) for name, data in wanted.shards.items())
        return whole and self._store.get(f"{wanted.folder}/{dcp.METADATA_FILE}") is not None

    def _is_hanging(self) -> bool:
        if self.record.stalled_at is not None:
            return True  # a hung collective never comes back, even where the GPU does
        if not any(self._is_broken(member.node) or self._is_stuck(member) for member in self._members):
            return False
        self.record.stalled_at = self._now()
        if self.saving is not None and self._tear is Tear.SHORT_SHARD:
            self._mirror_up(self.saving)
        return True

    def _mirror_up(self, save: Save) -> None:
        (name, content), *rest = save.left
        for left, data in [(name, content[: len(content) // 2]), *rest]:
            self._store.put(left, data)

    def _advance(self) -> None:
        self.step += 1
        if self.step % self._pace.progress_every == 0 or self.step == self._resumed_from + 1:
            self._tell_progress()
        if self.step % self._pace.checkpoint_every == 0:
            checkpoint = self._checkpoint(self.step)
            self.record.save_begun.setdefault(self.step, self._now())
            files = [*checkpoint.shards.items(), (dcp.METADATA_FILE, checkpoint.metadata)]
            self.saving = Save(checkpoint, [(f"{checkpoint.folder}/{name}", data) for name, data in files])

    def _checkpoint(self, step: int) -> dcp.Checkpoint:
        ranks = [index * self._pace.gpus_per_node for index in range(self._gang.size)]
        return dcp.checkpoint(step, ranks, save_id=f"save-{step}")

    def _write_next(self, save: Save) -> None:
        name, content = save.left.pop(0)
        self._store.put(name, content)
        save.written += 1
        if not save.left:
            self.record.saved[save.checkpoint.step] = self._now()
            self.record.first_saved.setdefault(save.checkpoint.step, self._now())
            self.saving = None
            self._keep(save.checkpoint)

    def _keep(self, saved: dcp.Checkpoint) -> None:
        """Delete the oldest beyond those that are kept, `.metadata` first: what is half gone is not whole."""
        names = (dcp.METADATA_FILE, *saved.shards)
        self._kept[saved.step] = tuple(f"{saved.folder}/{name}" for name in names)
        while len(self._kept) > self._pace.keep:
            self._store.delete(self._kept.pop(next(iter(self._kept))))

    def _tell_progress(self) -> None:
        progress = {"step": self.step, "resumed_from": self._resumed_from, "at": format_time(self._now())}
        self._store.put(PROGRESS, json.dumps(progress).encode())
