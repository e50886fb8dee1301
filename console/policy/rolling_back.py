"""`relight policy rollback`: an earlier revision comes into force again, byte for byte, as a new revision.

It goes the way of every edit: the item gets the fields of that revision, and the guard judges. What the item holds now
must still be what was looked at. Again is the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from console.policy.answering import Answer
from console.policy.diffing import changes
from console.policy.edits import Editor, live_item, pushed_of
from console.policy.past import NOT_THERE, before, document_of, unreadable
from console.policy.planning import fields_of
from console.policy.waiting import WAIT_SECONDS, wait_for_verdict
from console.saying import say
from functions.ports.policies import DELETED, Head, PolicyEditor
from policies.documents import fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Wish:
    """Which policy goes back to which revision (0: the one before), who says so and why."""

    name: str
    editor: Editor
    to: int = 0
    wait_seconds: float = WAIT_SECONDS


def roll_back(
    policies: PolicyEditor, wish: Wish, answer: Answer, *, clock: Callable[[], datetime], pause: Callable[[float], None]
) -> int:
    """Do it; the result is the exit status."""
    live, head = policies.live(wish.name), policies.head(wish.name)
    if head is None:
        return answer.failed(f"nothing of {wish.name} was ever in force; `relight policy list` names them.")
    target = _target(policies, wish, live, head)
    if isinstance(target, str):
        return answer.failed(target)
    document = document_of(target)
    answer.of(wish.name, restores=target.revision)
    if live is not None and fingerprint(live) == target.hash == head.hash:
        say(f"{wish.name}: revision {head.revision} is in force and says what revision {target.revision} says.")
        answer.judged(wish.name, {"status": "accepted", "revision": head.revision, "mode": head.mode.value})
        return 0
    found = changes(fields_of(live), document) if live else []
    for change in found:
        for line in change.lines():
            say(f"    {line}")
    pushed = pushed_of(live) if live else {}
    policies.replace_live(live, live_item(document, wish.editor, restored=target.revision, pushed=pushed))
    answer.of(wish.name, written=True, changes=[change.document() for change in found])
    verdict = wait_for_verdict(policies, wish.name, wish.wait_seconds, clock=clock, pause=pause)
    answer.judged(wish.name, verdict)
    return _told(wish, target, verdict, answer)


def _target(policies: PolicyEditor, wish: Wish, live: "Mapping[str, object] | None", head: Head) -> Head | str:
    """Return the revision to restore, or why there is none."""
    look = f"`relight policy history {wish.name}` lists them."
    if wish.to:
        target = policies.revision(wish.name, wish.to)
        if target is None:
            return f"there is no revision {wish.to} of {wish.name}. {look}"
    else:
        if live is not None and fingerprint(live) != head.hash:
            return (
                f"the item of {wish.name} holds an edit that is not in force. --to {head.revision} takes it back; an"
                f" earlier revision goes further. {look}"
            )
        revisions = policies.revisions(wish.name)
        target = before(head, revisions)
        if target is None:
            return f"{_why_none(head, revisions)} {look}"
    if target.hash.startswith(DELETED):
        off = "it is off" if live is None else f"`relight policy set-mode {wish.name} off` turns it off"
        return f"revision {target.revision} is a deletion: {off}. {look}"
    if fingerprint(document_of(target)) != target.hash:
        return f"revision {target.revision} of {wish.name} was changed by hand. {look}"
    return target


def _why_none(head: Head, revisions: Sequence[Head]) -> str:
    """Return why there is nothing to go back to from *head*."""
    lost = [each for each in unreadable(head, revisions) if each < head.revision]
    if lost:
        return f"revision {lost[0]} {NOT_THERE} Go back to another with --to."
    return f"there is nothing before revision {head.revision}."


def _told(wish: Wish, target: Head, verdict: "Mapping[str, Any] | None", answer: Answer) -> int:
    if verdict is None:
        return answer.failed(f"{wish.name} is written and not judged yet: `log Guard`. Say it again when it is.")
    if verdict["status"] != "accepted":
        told = f"revision {target.revision} of {wish.name} is refused today: `relight policy show {wish.name}`."
        return answer.failed(told)
    say(f"{wish.name}: revision {target.revision} is in force again, as revision {verdict['revision']}.")
    return 0
