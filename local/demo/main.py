"""The demo from start to end: builds the cluster, tells the story, judges it, cleans up, and says how it ended."""

import contextlib
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from local.aws.errors import EmbeddedAwsError
from local.demo import faults, story
from local.demo.archiving import keep_archive
from local.demo.clues import Clues
from local.demo.cluster import LocalCluster
from local.demo.display import Teller, teller
from local.demo.ending import ended_once
from local.demo.errors import DemoError, TookTooLongError
from local.demo.faults import Story
from local.demo.holding import World, hold
from local.demo.report import Report, what_is_missing
from local.fleet.agents import AgentParentError
from policies.contract.errors import RelightError
from policies.coordination.incident import Incident

DONE, FAILED, INTERRUPTED = 0, 1, 130
_ENDED = {DONE: "done", INTERRUPTED: "interrupted, every process is ended"}
_GATHERING_SECONDS = 20.0  # kept back for the report, which tells more than a deadline does


@dataclass(frozen=True)
class Outputs:
    """What comes besides the story: the report as JSON, the archive as a folder, the world held open afterwards."""

    report: Path | None = None
    archive: Path | None = None
    hold_minutes: int | None = None


def run_demo(
    *,
    report: Path | None,
    as_json: bool,
    keep: bool,
    deadline_seconds: float,
    fault: str = faults.DEFAULT,
    archive: Path | None = None,
    hold_minutes: int | None = None,
) -> int:
    """Returns 0 when everything happened, 1 when something is missing, 130 after Ctrl-C, SIGTERM or a hang-up.

    Of a world that is held open after a story that went well, each of these is an end as good as that of its time.
    """
    wanted = Outputs(report, archive, hold_minutes)
    one = faults.STORIES[fault]
    told = teller(sys.stdout, as_json=as_json, stages=one.expected.stages)
    status = FAILED
    with ended_once() as unbroken:
        data_dir = Path(tempfile.mkdtemp(prefix="relight-demo-"))
        clues = Clues(data_dir)
        try:
            with _deadline(deadline_seconds):
                status = _tell(told, one, clues, data_dir, wanted, deadline_seconds)
        except KeyboardInterrupt:
            status = INTERRUPTED
        except (DemoError, EmbeddedAwsError, AgentParentError, RelightError) as error:
            told.failed([str(error), *clues.found()], data_dir)
        finally:
            unbroken()
            told.close()
        if status == DONE and archive is not None:
            again = f"relight policy backtest --events {archive}"
            sys.stderr.write(f"relight demo: its archive lies in {archive}; tell it again: {again}\n")
        if status != FAILED:
            is_told = status == INTERRUPTED or hold_minutes is not None
            _leave(data_dir, keep=keep, ended=_ENDED[status], is_told=is_told)
    return status


def _leave(data_dir: Path, *, keep: bool, ended: str, is_told: bool) -> None:
    """Remove the data or say where it lies; on standard error, for the story may be JSON."""
    if keep:
        sys.stderr.write(f"relight demo: {ended}; logs and data lie in {data_dir}\n")
        return
    shutil.rmtree(data_dir, ignore_errors=True)
    if is_told:
        sys.stderr.write(f"relight demo: {ended}, nothing is left behind.\n")


def _tell(told: Teller, one: Story, clues: Clues, data_dir: Path, outputs: Outputs, seconds: float) -> int:
    start = time.monotonic()
    patience = one.hang_after_seconds
    with contextlib.ExitStack() as world:
        made = LocalCluster(data_dir, hang_after_seconds=patience, on_phase=told.phase, on_end=clues.take)
        cluster = world.enter_context(made)
        told.phase("training until there are two checkpoints to go back to")
        fault = one.break_(cluster)
        told.broke(fault)
        left = seconds - _GATHERING_SECONDS - (time.monotonic() - start)
        incident = story.follow(cluster, fault, one.expected, told.stage, left)
        report, truth = story.report_on(cluster, fault, one.expected, incident)
        if outputs.archive is not None:
            told.phase("waiting until the archive holds all of it")
            keep_archive(cluster, outputs.archive)
        if outputs.hold_minutes is None:
            world.close()
        if outputs.report is not None:
            _write(outputs.report, report)
        problems = what_is_missing(report, truth, one.expected)
        if problems:
            told.failed([*_how_it_stands(incident, left), *problems, *clues.found()], data_dir)
            return FAILED
        told.end(report, time.monotonic() - start)
        if outputs.hold_minutes is not None:
            _hold(told, cluster, outputs.hold_minutes)
    return DONE


def _hold(told: Teller, world: World, minutes: int) -> None:
    """Let a person practise on *world* until its time is over or they end it."""
    signal.setitimer(signal.ITIMER_REAL, 0)  # the deadline was the story's
    with contextlib.suppress(KeyboardInterrupt):
        hold(world, minutes, Path(sys.executable).parent, told.held, told.broke)


def _write(path: Path, report: Report) -> None:
    try:
        path.write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise DemoError(f"the report cannot be written to {path} ({error.strerror}). Name another file.") from error


def _how_it_stands(incident: Incident | None, seconds: float) -> list[str]:
    """Say how far it came in the *seconds* that the deadline had left for it."""
    time = f"the deadline left it {max(0.0, seconds):.0f} s. Give it more with --deadline on a slow machine."
    if incident is None:
        return [f"no incident was opened for the fault; {time}"]
    unfinished = f"it was still under way; {time}" if incident.status.is_running else "see its last stage"
    return [f"the incident is {incident.status}: {incident.reason or unfinished}"]


@contextlib.contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise in the main thread, wherever it hangs."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLongError(
            f"it was not done after {seconds:.0f} s. Give it more with --deadline on a slow machine."
        )

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
