"""`relight policy push`: a folder of files into the table, after what differs was shown.

Nothing is written when anything is wrong with a file, when somebody's edit in the table would be lost, or when a gate
refuses. Each item is written only if it is still the one that was shown. Again is the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from console.asked_wrongly import AskedWronglyError
from console.going_on import with_mode
from console.policy.answering import Answer
from console.policy.complaining import FAILED
from console.policy.edits import SHIPPED_SOURCE, Editor, live_item, pushed_from, pushed_of
from console.policy.files import NO_FILES, files_of, read
from console.policy.folder import Gathered, gather, note
from console.policy.linting import is_good, tell, tell_warnings
from console.policy.modes import KEEP, MOST_NAMED, begin, chosen, disarming, standing, stop
from console.policy.planning import Doing, Planned, Rules, plan, plan_off, switched_off
from console.policy.waiting import wait_for_verdict
from console.saying import say
from functions.ports.policies import EditedMeanwhileError, PolicyEditor
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint
from policies.lint.codes import Level
from policies.lint.lint import Linted, lint
from policies.wording import first_few

_NOTHING = "Nothing was written."
Gate = Callable[[Sequence[Planned]], str]
"""Sees what is about to be written; returns why it must not be, empty when it may (a back-test, say)."""


@dataclass(frozen=True)
class Wish:
    """What a person asked for. ``shipped`` is the folder that comes along: it is never written to.

    ``mode``: see `console.policy.modes`. ``source`` is what this place calls itself on the items; given by hand, its
    earlier pushes may be overwritten. ``words`` are those that were typed after `relight`.
    """

    paths: Sequence[Path]
    editor: Editor
    shipped: Path
    mode: str = ""
    source: str = ""
    prune: bool = False
    dry_run: bool = False
    force: bool = False
    expected: int | None = None
    wait_seconds: float = 0.0
    words: Sequence[str] = ("policy", "push")


def push(
    policies: PolicyEditor,
    wish: Wish,
    answer: Answer,
    gates: Sequence[Gate] = (),
    *,
    clock: Callable[[], datetime],
    pause: Callable[[float], None],
) -> int:
    """Do it; the result is the exit status. AskedWronglyError when what was asked for cannot be meant."""
    _see_to(wish)
    files = files_of(wish.paths)
    linted = lint(read(files))
    tell(linted, notes=False)
    if not files or len(linted) != len(files) or not all(is_good(each) for each in linted):
        flaws = (flaw for each in linted for flaw in each.flaws if flaw.level is Level.PROBLEM)
        answer.problems.extend(flaw.document() for flaw in flaws)
        return answer.failed("nothing was written." if files else f"{NO_FILES} Nothing was written.")
    there = gather(files)
    planned = _plan(policies, wish, there, answer)
    _show(planned, wish, answer)
    _warn(planned, there, linted, answer)
    conflicts = [each for each in planned if each.doing is Doing.CONFLICT]
    if conflicts and not any(each.changes or each.live is None for each in conflicts):
        return answer.failed("another revision is in force than you expected. Nothing was written, nor is there to be.")
    if conflicts:
        edited = any(each.live is not None for each in conflicts)  # a deletion is nothing that could be pulled
        pull = "`relight policy pull` brings the table's into the folder; " if edited else ""
        return answer.failed(
            f"{len(conflicts)} would overwrite somebody's edit. Nothing was written. {pull}--force writes over it."
        )
    stopped = [name for name in stop(planned) if there.home_of(name)]  # what --prune turns off was asked for
    if stopped and not wish.mode:
        return answer.failed(disarming(stopped, partial(with_mode, wish.words)))
    for gate in gates:
        refused = gate(planned)
        if refused:
            return answer.failed(f"{refused} Nothing was written.")
    return 0 if wish.dry_run else _write(policies, wish, there, planned, answer, clock=clock, pause=pause)


def _see_to(wish: Wish) -> None:
    """Raise AskedWronglyError when its words do not go together."""
    folders = [path for path in wish.paths if path.is_dir()]
    if wish.prune and (len(wish.paths) != 1 or not folders):
        raise AskedWronglyError("--prune is for one folder, the whole of a source.", hint=_NOTHING)
    if wish.expected is not None and len(files_of(wish.paths)) != 1:
        raise AskedWronglyError("--expect-revision is for one file.", hint=_NOTHING)


def _plan(policies: PolicyEditor, wish: Wish, there: Gathered, answer: Answer) -> list[Planned]:
    """Return what becomes of each policy, in order of the files, then of what is not there any more."""
    planned = []
    for sheet in there.sheets:
        seen = there.seen[sheet.file.parent].policies.get(sheet.name)
        live, head = policies.live(sheet.name), policies.head(sheet.name)
        stands = standing(live, head, refused=_is_refused(policies, live))
        document = chosen(wish.mode, sheet.document, stands)
        found = plan(sheet.name, document, live, head, seen=seen, rules=_rules(wish), stands=stands)
        planned.append(switched_off(found) if wish.mode == PolicyMode.OFF else found)
    return [*planned, *_gone(policies, wish, there, answer)]


def _is_refused(policies: PolicyEditor, live: Mapping[str, Any] | None) -> bool:
    verdict = policies.verdict(live) if live is not None else None
    return verdict is not None and verdict["status"] == "rejected"


def _gone(policies: PolicyEditor, wish: Wish, there: Gathered, answer: Answer) -> Iterator[Planned]:
    (folder, *more) = wish.paths
    if more or not folder.is_dir():
        return
    source, rules = _source_of(wish, there, folder), _rules(wish)
    for name in policies.names():
        live = None if there.home_of(name) or name == EVERYTHING else policies.live(name)
        found = plan_off(name, live, policies.head(name), source=source, rules=rules) if live else None
        if found is not None and wish.prune:
            yield found
        elif found is not None:
            answer.of(name, doing="not in the folder", why=f"pushed from {source} before; --prune turns it off")
            say(f"not in the folder  {name} (pushed from {source} before; --prune turns it off)")


def _rules(wish: Wish) -> Rules:
    trusted = frozenset({SHIPPED_SOURCE, wish.source} - {""})
    return Rules(wish.force, wish.expected, trusted, keeps_modes=wish.mode == KEEP)


def _source_of(wish: Wish, there: Gathered, folder: Path) -> str:
    """Return what *folder* calls itself."""
    return wish.source or (SHIPPED_SOURCE if _is_shipped(wish, folder) else there.seen[folder].source)


def _is_shipped(wish: Wish, folder: Path) -> bool:
    return folder.resolve() == wish.shipped.resolve()


def _show(planned: Sequence[Planned], wish: Wish, answer: Answer) -> None:
    for each in planned:
        found = [change.document() for change in each.changes]
        answer.of(each.name, doing=each.doing.value, why=each.why, changes=found)
        if each.doing is Doing.CONFLICT:
            say(f"CONFLICT   {each.name}: {each.why}")
        elif each.doing in {Doing.CHANGED, Doing.OFF} or wish.dry_run:
            say(f"{each.doing:<10} {each.name}")
        for change in each.changes:
            for line in change.lines():
                say(f"             {line}")
        if each.keeps and each.writes:
            say("             what was edited in the table stays in it: `relight policy pull` before the next push")
    for word, names in (("stop", stop(planned)), ("begin", begin(planned))):
        for name in names:
            answer.of(name, acting=f"{word}s")
        if names:
            say(f"{len(names)} would {word} acting: {first_few(names, MOST_NAMED)}")


def _warn(planned: Sequence[Planned], there: Gathered, linted: Sequence[Linted], answer: Answer) -> None:
    """Tell what lint would say of those that are to be active and whose files say otherwise."""
    known = {each.policy.name: each.flaws for each in linted if each.policy is not None}
    files = {sheet.name: sheet.document.get("mode") for sheet in there.sheets}
    for name in begin(planned):
        if files.get(name) != PolicyMode.ACTIVE:
            document = next(each.document for each in planned if each.name == name)
            found = tell_warnings(document, known.get(name, ()))
            answer.of(name, warnings=[flaw.document() for flaw in found])


def _write(
    policies: PolicyEditor,
    wish: Wish,
    there: Gathered,
    planned: Sequence[Planned],
    answer: Answer,
    *,
    clock: Callable[[], datetime],
    pause: Callable[[float], None],
) -> int:
    lost = []
    for each in planned:
        try:
            if each.writes:
                policies.replace_live(each.live, _item(wish, there, each))
                answer.of(each.name, written=True)
            say(f"{'written  ' if each.writes else 'unchanged'}  {each.name}")
        except EditedMeanwhileError:
            lost.append(each.name)
            answer.failed(f"{each.name} was edited in the table just now: not written.")
    _note(wish, there, [each for each in planned if each.name not in lost])
    waited = [each.name for each in planned if each.name not in lost and not _is_judged_good(policies, each)]
    refused = [
        name for name in waited if wish.wait_seconds and not _accepted(policies, wish, name, answer, clock, pause)
    ]
    return FAILED if lost or refused else 0


def _item(wish: Wish, there: Gathered, each: Planned) -> Mapping[str, Any]:
    """Return what is written; an edit that stays in it is not this push's, so the mark of the push before stays too."""
    source = _source_of(wish, there, there.home_of(each.name) or wish.paths[0])
    pushed = pushed_of(each.live or {}) if each.keeps else pushed_from(source, each.document, wish.editor.at)
    return live_item(each.document, wish.editor, pushed=pushed)


def _note(wish: Wish, there: Gathered, known: Sequence[Planned]) -> None:
    """Let each folder know what it wrote, or found to be the same; an edit that it has not, it has not seen."""
    marks = {each.name: fingerprint(each.document) for each in known if not each.keeps}
    homes = [(sheet.file.parent, sheet.name) for sheet in there.sheets]
    gone = [(wish.paths[0], name) for name in marks if not there.home_of(name)]
    folders: dict[Path, dict[str, str]] = {}
    for folder, name in (*homes, *gone):
        if name in marks:
            folders.setdefault(folder, {})[name] = marks[name]
    for folder, policies in folders.items():
        if not _is_shipped(wish, folder):
            files = {sheet.name: fingerprint(sheet.document) for sheet in there.sheets if sheet.name in policies}
            note(folder, _source_of(wish, there, folder), policies, files)


def _is_judged_good(policies: PolicyEditor, each: Planned) -> bool:
    """Whether there is no verdict to wait for; a push that was stopped while it waited waits again when repeated."""
    verdict = None if each.writes or each.live is None else policies.verdict(each.live)
    return verdict is not None and verdict["status"] == "accepted"


def _accepted(
    policies: PolicyEditor,
    wish: Wish,
    name: str,
    answer: Answer,
    clock: Callable[[], datetime],
    pause: Callable[[float], None],
) -> bool:
    verdict = wait_for_verdict(policies, name, wish.wait_seconds, clock=clock, pause=pause)
    answer.judged(name, verdict)
    if verdict is None:
        answer.failed(f"{name} is written and not judged yet: `log Guard`.")
        return False
    see = f"`relight policy show {name}`"
    at = f"(revision {verdict['revision']})"
    if verdict["status"] == "accepted":
        say(f"accepted   {name} {at}")
        return True
    if wish.mode and verdict.get("mode") == wish.mode:  # what takes power away needs no sound item
        say(f"{wish.mode:<10} {name} {at}; {answer.leave(f'the rest of {name} stays refused: {see}.')}")
        return True
    say(f"{verdict['status']:<10} {name} {at}; {answer.leave(f'{name} is refused: {see}.')}")
    return False
