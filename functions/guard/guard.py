"""Judges edits of policies: the good come into force as a new revision, the bad are told why on the item itself.

Decides what becomes of one policy after something happened to its `live` item. It looks at the item as it stands, never
at what the stream says it was, and computes what should be there: so a repeat, its own write and a pasted old verdict
all end with nothing to do or with the same thing done again. What is in force stays so until something better is.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from functions.guard import telling
from functions.guard.editors import dated, edit_of
from functions.guard.lowering import as_asked, lowered
from functions.guard.mending import Standing, standing_of
from functions.guard.switch import judge_switch
from functions.guard.writes import Write, made_of
from functions.ports.notices import Notice, Notices
from functions.ports.policies import DELETED, Edit, EditedMeanwhileError, Head, PolicyStore
from functions.ports.triage import Telemetry
from policies.contract.errors import DependencyError
from policies.contract.times import format_time
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import canonical, fingerprint, operators_fields
from policies.loader import load_document
from policies.model import Policy
from policies.problems import Problem

MOST_TRIES = 5  # two persons editing one policy in the same second; more is a fault


@dataclass(frozen=True)
class Guard:
    """The guard with its ports."""

    store: PolicyStore
    notices: Notices
    telemetry: Telemetry
    clock: Callable[[], datetime]

    def look_at(self, name: str, writes: Sequence[Write] = ()) -> bool:
        """Bring what is in force, and what the item says, in line with what the operator wrote; DependencyError.

        Return whether anything had to be written for that. *writes* to the item, as far as the stream tells them, only
        date the edit. Whatever else breaks is a defect of ours that this one item met: the edits behind it, `off` among
        them, go on.
        """
        try:
            return self._look_at(name, writes)
        except DependencyError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            self.telemetry.count("PoliciesNotJudged")
            told = f"{type(error).__name__}: {str(error)[:200]}"
            self.telemetry.warn("a policy broke the guard; what was in force stays so", policy=name, reason=told)
            return False

    def tell_lost(self, names: Sequence[str], change: str) -> None:
        """Tell people that somebody removed the lines of *names* from the listing, with that *change* of the table.

        Each is looked at as well, which writes it anew; DependencyError.
        """
        self.telemetry.count("PoliciesMended", len(names))
        self.telemetry.warn("lines of the listing were removed by hand", policies=", ".join(names[:10]))
        self.notices.tell(telling.unlisted(names, change, self.clock()))

    def _look_at(self, name: str, writes: Sequence[Write]) -> bool:
        for _try in range(MOST_TRIES - 1):
            with suppress(EditedMeanwhileError):
                return self._settle(name, writes)
        return self._settle(name, writes)

    def _settle(self, name: str, writes: Sequence[Write]) -> bool:
        if name == EVERYTHING:
            return self._tell_switch(self.store.live(name), writes)
        standing = self._mend(name)
        # Only now: what another guard made of a newer item than this one is then in force by a newer head, over which
        # nothing is put. Read before, an old item could be put over an `off` that was accepted in between.
        live = self.store.live(name)
        if live is None:
            return self._turn_off(name, standing, writes) or bool(standing.mend)
        return self._judge(name, live, standing, writes) or bool(standing.mend)

    def _judge(self, name: str, live: Mapping[str, Any], standing: Standing, writes: Sequence[Write]) -> bool:
        loaded, there = load_document(live), standing.head
        if isinstance(loaded, Policy):
            new = self._put_in_force(loaded, live, standing, writes)
            listed = self._list(new, standing)
            return self._answer(name, live, _accepted(new))[1] or listed or new != there
        if there and there.hash == fingerprint(live):
            return self._outgrown(live, loaded, there, standing)
        less = self._lower(live, standing, writes)
        return self._refuse(name, live, loaded, replace(standing, head=less)) or less != there

    def _mend(self, name: str) -> Standing:
        """Return what is in force, after putting right what somebody changed of it by hand."""
        standing = standing_of(self.store, name)
        if standing.mend and standing.head:
            self.telemetry.count("PoliciesMended")
            self.telemetry.warn("what is in force was changed by hand", policy=name, revision=standing.revision)
            self.notices.tell(telling.mended(standing.head, standing.mend, self.clock()))
            self.store.restore(standing.head, standing.seen)
            return replace(standing, listed=standing.head.heading)
        return standing

    def _tell_switch(self, live: Mapping[str, Any] | None, writes: Sequence[Write]) -> bool:
        """Say on the switch what it means; without its item nothing is stopped: only the stream knows that it was."""
        if live is None:
            for write in writes:
                if not write.after:
                    self.notices.tell(telling.unswitched(write.at))
            return False
        stands, new = self._answer(EVERYTHING, live, {**judge_switch(live), "by": edit_of(live, ()).by})
        self._tell(telling.switched(live, stands, self.clock()), stands["at"])
        if new:
            self.telemetry.count("PoliciesRejected", len(stands["problems"]))
            self.telemetry.warn("the switch of everything was set", mode=stands["mode"], status=stands["status"])
        return new

    def _outgrown(self, live: Mapping[str, Any], problems: list[Problem], head: Head, standing: Standing) -> bool:
        """Keep what nobody edited, though this version would refuse it, and say so once: an upgrade is no edit."""
        listed = self._list(head, standing)
        stands, new = self._answer(head.name, live, {**_accepted(head), "problems": _told(problems)})
        self._tell(telling.outgrown(head.name, stands, problems, self.clock()), stands["at"])
        if new:
            told = "; ".join(str(problem) for problem in problems)
            self.telemetry.warn("this version would refuse an accepted policy", policy=head.name, problems=told)
        return new or listed

    def _lower(self, live: Mapping[str, Any], standing: Standing, writes: Sequence[Write]) -> Head | None:
        """Return what is in force: with less power, where the refused *live* asks for that."""
        there = standing.head
        if there is None:
            return None
        edit = dated(edit_of(live, there.edit.used), made_of(writes, _content(there), fingerprint(live)))
        less = lowered(live, there, edit)
        if less is None:
            return there
        there = self._raise(less, standing)
        self.telemetry.count("PoliciesLowered")
        self.telemetry.warn("a refused edit takes power from its policy", policy=there.name, mode=there.mode.value)
        return there

    def _refuse(self, name: str, live: Mapping[str, Any], problems: list[Problem], standing: Standing) -> bool:
        # A crash may have come between the two writes of an earlier edit.
        listed = standing.head is not None and self._list(standing.head, standing)
        by = edit_of(live, _used_before(standing.head)).by
        verdict = _rejected(problems, fingerprint(live), standing, by, as_asked(live, standing.head))
        stands, new = self._answer(name, live, verdict)
        self._tell(telling.refused(name, stands, problems, self.clock()), stands["at"])
        if new:
            self.telemetry.count("PoliciesRejected")
            told = "; ".join(str(problem) for problem in problems)
            self.telemetry.warn("an edited policy is refused; what was in force stays so", policy=name, problems=told)
        return new or listed

    def _put_in_force(
        self, policy: Policy, live: Mapping[str, Any], standing: Standing, writes: Sequence[Write]
    ) -> Head:
        there, mark = standing.head, fingerprint(live)
        if there is None or there.hash != mark:
            edit = dated(edit_of(live, there.edit.used if there else ()), made_of(writes, _content(there), mark))
            new = Head(policy.name, 0, mark, policy.mode, canonical(operators_fields(live)), edit)
            there = self._raise(new, standing)
            self.telemetry.count("PoliciesAccepted")
        return there

    def _raise(self, new: Head, standing: Standing) -> Head:
        """Keep the next revision, then put it in force; a number that an edit took and never used is passed over."""
        before = standing.revision
        now = replace(new, edit=replace(new.edit, accepted_at=format_time(self.clock()), after=before))
        try:
            head = self.store.put_revision(replace(now, revision=before + 1))
        except EditedMeanwhileError:
            newest = max((each.revision for each in self.store.revisions(new.name)), default=before)
            head = self.store.put_revision(replace(now, revision=newest + 1))
        self.store.put_head(head, after=before)
        return head

    def _turn_off(self, name: str, standing: Standing, writes: Sequence[Write]) -> bool:
        """Deleting the item is the plainest way to say stop: it applies at once and somebody hears of it."""
        there = standing.head
        if there is None:
            return False
        if there.mode is not PolicyMode.OFF:
            edit = dated(Edit(used=there.edit.used), made_of(writes, _content(there), ""))
            off = Head(name, 0, f"{DELETED}{there.hash}", PolicyMode.OFF, there.document, edit)
            there = self._raise(off, standing)
            self.telemetry.count("PoliciesDeleted")
            self.telemetry.warn("a policy's item was deleted; the policy is off", policy=name, revision=there.revision)
        listed = self._list(there, standing)
        self.store.forget_answer(name)
        if there.hash.startswith(DELETED):
            self._tell(telling.deleted(there, self.clock()), there.edit.accepted_at)
        return listed or there != standing.head

    def _tell(self, notice: Notice, since: str) -> None:
        """Tell *notice* of what stands *since* that time: again while it is news, in case a crash came before."""
        if telling.is_news(since, self.clock()):
            self.notices.tell(notice)

    def _list(self, head: Head, standing: Standing) -> bool:
        """Put *head* into the listing where it is not yet; return whether that was so."""
        if standing.listed == head.heading:
            return False
        self.store.list_head(head)
        return True

    def _answer(self, name: str, live: Mapping[str, Any], verdict: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
        """Return the verdict that stands there, with its time, and whether it had to be written."""
        there, now = self.store.verdict(live), self.clock()
        if there is not None and telling.is_time(there.get("at"), now) and {**there, "at": ""} == {**verdict, "at": ""}:
            return there, False
        told = {**verdict, "at": format_time(now)}
        self.store.answer(name, live, told)
        return told, True


def _content(head: Head | None) -> str:
    """Return the fingerprint that the item had when *head* came into force; "" for no item."""
    return "" if head is None or head.hash.startswith(DELETED) else head.hash


def _accepted(head: Head) -> dict[str, Any]:
    mode, by = head.mode.value, head.edit.by
    return {"status": "accepted", "revision": head.revision, "hash": head.hash, "mode": mode, "by": by, "problems": []}


def _rejected(problems: list[Problem], mark: str, standing: Standing, by: str, mode: str) -> dict[str, Any]:
    """Return the verdict without its time; *mode* is what the edit got although it is refused, "" for nothing."""
    told, got = _told(problems), {"mode": mode} if mode else {}
    return {"status": "rejected", "revision": standing.revision, "hash": mark, **got, "by": by, "problems": told}


def _told(problems: Sequence[Problem]) -> list[dict[str, str]]:
    return [asdict(one) for one in problems]


def _used_before(head: Head | None) -> Sequence[str]:
    """Return the seals used before the edit that made *head*: a refused edit may have made it (`lowering.py`)."""
    return [mark for mark in head.edit.used if mark != head.edit.mark] if head else []
