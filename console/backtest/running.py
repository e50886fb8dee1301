"""Runs a back-test as it was asked for: finds the archive and the policies, shows how far it is, prints the account.

Decides what is wrong with the question. It must not replay anything itself.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from console.archive.time_scale import time_scale_of
from console.archive.whereabouts import reader_of
from console.asked_wrongly import AskedWronglyError
from console.backtest.arguments import CURRENT, RECORDED
from console.backtest.hints import A_FOLDER, Tried, hints
from console.backtest.jobs import jobs_of
from console.backtest.screen import Shown, document, print_document, print_report
from console.policy.files import NO_FILES, files_of
from console.policy.modes import KEEP
from console.saying import say
from functions.ports.policies import Head
from functions.triage.collector import calm_collector
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import Orchestrator, PolicyMode
from policies.loader import load_text
from policies.model import Policy
from policies.yaml_text import read_yaml
from simulator.backtest import Asked, Past, Progress, backtest, read_past
from simulator.checkpoint import KEPT
from simulator.in_force import Revisions
from simulator.picture import picture

TOO_MANY = 1


def run(args: argparse.Namespace) -> int:
    """Do what *args* ask; 1 when more would be done anew than is allowed."""
    if args.since and args.until and args.since >= args.until:
        raise AskedWronglyError("the period ends before it begins.", hint="Give --from and --to, in UTC.")
    jobs, small = jobs_of(args.jobs)
    asked = Asked(
        reader=reader_of(args.events, args.region),
        address=args.events,
        against=args.against,
        since=args.since,
        until=args.until,
        orchestrator=Orchestrator(args.orchestrator),
        time_scale=args.time_scale or time_scale_of(args.events),
        resume=args.resume,
        jobs=jobs,
        small=small,
        opener=partial(reader_of, args.events, args.region),  # a connection is no matter of two processes
    )
    past = read_past(asked)
    tried = _tried(args, past)
    asked = replace(asked, candidate=None if tried is None else tried.heads)
    calm_collector()
    with watched() as progress:
        report = backtest(asked, past, progress)
    report = replace(
        report, notes=[*report.notes, *(hints(tried, report) if tried else ()), *_lost(args, past), *_kept(asked)]
    )
    shown = Shown(price=args.gpu_hour_price, every=args.all, most_new_acts=args.most_new_acts)
    if args.json:
        print_document(document(report, shown))
    else:
        print_report(report, shown)
    if args.plot:  # last: whoever cannot have the picture has the account
        args.plot.write_text(picture(report.matters, report.since, report.until), encoding="utf-8")
        say(f"relight policy backtest: the picture lies in {args.plot}", sys.stderr)
    return TOO_MANY if args.most_new_acts is not None and report.new_acts > args.most_new_acts else 0


def _tried(args: argparse.Namespace, past: Past) -> Tried | None:
    """Return what is tried; None: the policies as they were in force at each moment."""
    which: str = args.policies
    if which in {RECORDED, CURRENT}:
        for given, option in ((args.mode, "--mode"), (args.overlay, "--overlay")):
            if given:
                raise AskedWronglyError(f"{option} is of a folder of policies.", hint=A_FOLDER)
        return None if which == RECORDED else Tried(which, past.revisions.newest(), from_files=False)
    heads, in_force = heads_of(Path(which), past.revisions, args.mode), past.revisions.newest()
    if args.overlay and not in_force:
        told = f"{args.events} tells of no policy in force that {which} could lie over."
        raise AskedWronglyError(told, hint="Ask without --overlay.")
    if args.overlay:
        heads = [*{head.name: head for head in (*in_force, *heads)}.values()]
    return Tried(which, heads, in_force, alone=not args.overlay)


def _lost(args: argparse.Namespace, past: Past) -> Iterator[str]:
    if args.overlay or CURRENT in {args.policies, args.against}:
        for each in past.revisions.lost():
            yield f"{each} was in force when the archive ended and is not in it: it is left out"


def _kept(asked: Asked) -> Iterator[str]:
    if asked.resume and not any(asked.resume.rglob(KEPT)):
        yield f"nothing is kept in {asked.resume}: a day is kept once the next begins, and none was over in the period"


def heads_of(folder: Path, revisions: Revisions, mode: str = "") -> list[Head]:
    """Return the policies in *folder* with the revisions that they have or would get, all in *mode* if one is given.

    ``keep`` is the mode that each had when the archive ended; those that it did not know have their file's.

    Raises:
        BadInputError: names a policy that is none, or that stands there twice.
    """
    files = files_of([folder])
    if not files:
        raise BadInputError(NO_FILES)
    heads: dict[str, tuple[Head, Path]] = {}
    there = revisions.modes() if mode == KEEP else {}
    for file in files:
        head = _head(file, revisions, there, mode)
        if head.name in heads:
            told = f"{file}: {head.name} stands in {heads[head.name][1]} too."
            raise BadInputError(told, hint="Rename one: a push would refuse both.")
        heads[head.name] = head, file
    return [head for head, _file in heads.values()]


def _head(file: Path, revisions: Revisions, there: Mapping[str, str], mode: str) -> Head:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise BadInputError(f"{file}: cannot be read: {error.strerror}.") from None
    loaded, fields = load_text(text, try_examples=False), read_yaml(text)
    if not isinstance(loaded, Policy) or not isinstance(fields, dict):
        told = "; ".join(map(str, loaded if isinstance(loaded, list) else []))
        raise BadInputError(f"{file}: {told}", hint="`relight policy lint` says more.")
    mode = there.get(loaded.name, "") if mode == KEEP else mode
    if not mode:
        return revisions.head_of(fields, loaded.mode)
    return revisions.head_of({**fields, "mode": mode}, PolicyMode(mode))


@contextmanager
def watched() -> Iterator[Progress]:
    """Show a bar on standard error, where a person looks at it."""
    if not sys.stderr.isatty():
        yield lambda _name, _share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show(name: str, share: float) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(f"replaying ({name})", total=1.0)
            bar.update(tasks[name], completed=share)

        yield show
