"""Runs a back-test as it was asked for: finds the archive and the policies, shows how far it is, prints the account.

Decides what is wrong with the question. It must not replay anything itself.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from console.archive.time_scale import time_scale_of
from console.archive.whereabouts import reader_of
from console.asked_wrongly import AskedWronglyError
from console.backtest.arguments import CURRENT, RECORDED
from console.backtest.jobs import jobs_of
from console.backtest.screen import Shown, document, print_document, print_report
from console.policy.files import NO_FILES, files_of
from functions.ports.policies import Head
from functions.triage.collector import calm_collector
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import Orchestrator, PolicyMode
from policies.loader import load_text
from policies.model import Policy
from policies.yaml_text import read_yaml
from simulator.backtest import Asked, Past, Progress, Report, backtest, read_past
from simulator.checkpoint import KEPT
from simulator.in_force import Revisions
from simulator.picture import picture

TOO_MANY = 1
_A_FOLDER = "have those in force written by `relight policy pull --to DIR`, and ask with --policies DIR --mode active"


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
    asked = replace(asked, candidate=_candidate(args.policies, args.mode, past))
    calm_collector()
    with watched() as progress:
        report = backtest(asked, past, progress)
    report = replace(report, notes=[*report.notes, *_hints(args, asked, report)])
    shown = Shown(price=args.gpu_hour_price, every=args.all, most_new_acts=args.most_new_acts)
    if args.json:
        print_document(document(report, shown))
    else:
        print_report(report, shown)
    if args.plot:  # last: whoever cannot have the picture has the account
        args.plot.write_text(picture(report.matters, report.since, report.until), encoding="utf-8")
    return TOO_MANY if args.most_new_acts is not None and report.new_acts > args.most_new_acts else 0


def _candidate(which: str, mode: str, past: Past) -> Sequence[Head] | None:
    if mode and which in {RECORDED, CURRENT}:
        raise AskedWronglyError("--mode is of a folder of policies.", hint=_A_FOLDER)
    if which == RECORDED:
        return None
    if which == CURRENT:
        return past.revisions.newest()
    return heads_of(Path(which), past.revisions, mode)


def _hints(args: argparse.Namespace, asked: Asked, report: Report) -> Iterator[str]:
    """Yield what whoever asked so may not expect."""
    heads = asked.candidate or ()
    if (
        heads
        and not any(one.mode is PolicyMode.ACTIVE for one in heads)
        and not any(d.acts for d in report.after.deeds)
    ):
        again = "ask again with --mode active for what they would do" if args.policies != CURRENT else _A_FOLDER
        yield f"every policy of {args.policies} is in shadow or off, and so none does anything: {again}"
    if asked.resume and not any(asked.resume.rglob(KEPT)):
        yield f"nothing is kept in {asked.resume}: a day is kept once the next begins, and none was over in the period"


def heads_of(folder: Path, revisions: Revisions, mode: str = "") -> list[Head]:
    """Return the policies in *folder* with the revisions that they have or would get, all in *mode* if one is given.

    Raises:
        BadInputError: names a policy that is none, or that stands there twice.
    """
    files = files_of([folder])
    if not files:
        raise BadInputError(NO_FILES)
    heads: dict[str, tuple[Head, Path]] = {}
    for file in files:
        head = _head(file, revisions, mode)
        if head.name in heads:
            told = f"{file}: {head.name} stands in {heads[head.name][1]} too."
            raise BadInputError(told, hint="Rename one: a push would refuse both.")
        heads[head.name] = head, file
    return [head for head, _file in heads.values()]


def _head(file: Path, revisions: Revisions, mode: str) -> Head:
    try:
        text = file.read_bytes()
    except OSError as error:
        raise BadInputError(f"{file}: cannot be read: {error.strerror}.") from None
    loaded, fields = load_text(text, try_examples=False), read_yaml(text)
    if not isinstance(loaded, Policy) or not isinstance(fields, dict):
        told = "; ".join(map(str, loaded if isinstance(loaded, list) else []))
        raise BadInputError(f"{file}: {told}", hint="`relight policy lint` says more.")
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
