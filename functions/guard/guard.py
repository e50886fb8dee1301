"""Judges edits of policies: the good come into force as a new revision, the bad are told why on the item itself.

Decides what becomes of one policy after something happened to its `live` item. It looks at the item as it stands, never
at what the stream says it was, and computes what should be there: so a repeat, its own write and a pasted old verdict
all end with nothing to do or with the same thing done again. What is in force stays so until something better is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from functions.guard.switch import judge_switch
from functions.ports.policies import EditedMeanwhileError, Head, PolicyStore
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
MOST_SKIPPED = 100  # revisions of edits that were replaced before they came into force


@dataclass(frozen=True)
class Guard:
    """The guard with its ports."""

    store: PolicyStore
    telemetry: Telemetry
    clock: Callable[[], datetime]

    def look_at(self, name: str) -> None:
        """Bring what is in force, and what the item says, in line with what the operator wrote; DependencyError.

        Whatever else breaks is a defect of ours that this one item met: the edits behind it, `off` among them, go on.
        """
        try:
            self._look_at(name)
        except DependencyError:
            raise
        except Exception as error:  # noqa: BLE001 - see above
            self.telemetry.count("PoliciesRejected")
            told = f"{type(error).__name__}: {str(error)[:200]}"
            self.telemetry.warn("a policy broke the guard; what was in force stays so", policy=name, reason=told)

    def _look_at(self, name: str) -> None:
        for _try in range(MOST_TRIES - 1):
            try:
                self._settle(name)
            except EditedMeanwhileError:
                continue
            return
        self._settle(name)

    def _settle(self, name: str) -> None:
        live = self.store.live(name)
        if name == EVERYTHING:
            self._tell_switch(live)
            return
        if live is None:
            self._turn_off(name)
            return
        loaded = load_document(live)
        if isinstance(loaded, Policy):
            head = self._put_in_force(loaded, live)
            self._answer(name, live, _accepted(head))
        else:
            self._refuse(name, live, loaded)

    def _tell_switch(self, live: Mapping[str, Any] | None) -> None:
        """Say on the switch what it means; without its item nothing is stopped, and there is nothing to say."""
        if live is None:
            return
        verdict = judge_switch(live)
        if self._answer(EVERYTHING, live, verdict):
            self.telemetry.count("PoliciesRejected", len(verdict["problems"]))
            self.telemetry.warn("the switch of everything was set", mode=verdict["mode"], status=verdict["status"])

    def _refuse(self, name: str, live: Mapping[str, Any], problems: list[Problem]) -> None:
        in_force = self.store.head(name)
        if in_force is not None:
            self.store.list_head(in_force)  # a crash may have come between the two writes of an earlier edit
        if self._answer(name, live, _rejected(problems, fingerprint(live), in_force)):
            self.telemetry.count("PoliciesRejected")
            told = "; ".join(str(problem) for problem in problems)
            self.telemetry.warn("an edited policy is refused; what was in force stays so", policy=name, problems=told)

    def _put_in_force(self, policy: Policy, live: Mapping[str, Any]) -> Head:
        there = self.store.head(policy.name)
        mark = fingerprint(live)
        if there is None or there.hash != mark:
            document = canonical(operators_fields(live))
            there = self._raise(policy.name, there, mark, policy.mode, document)
            self.telemetry.count("PoliciesAccepted")
        self.store.list_head(there)
        return there

    def _raise(self, name: str, there: Head | None, mark: str, mode: PolicyMode, document: str) -> Head:
        """Keep the next revision, then put it in force; a number that an edit took and never used is passed over."""
        before = there.revision if there else 0
        for revision in range(before + 1, before + MOST_SKIPPED):
            head = Head(name, revision, mark, mode, document)
            try:
                self.store.put_revision(head)
            except EditedMeanwhileError:
                continue
            self.store.put_head(head, after=before)
            return head
        raise EditedMeanwhileError(f"no number is free for a revision of {name}.", hint="See its rev# items.")

    def _turn_off(self, name: str) -> None:
        """Deleting the item is the plainest way to say stop: it applies at once and somebody hears of it."""
        there = self.store.head(name)
        if there is None:
            return
        if there.mode is not PolicyMode.OFF:
            mark = f"deleted-{there.hash}"
            there = self._raise(name, there, mark, PolicyMode.OFF, there.document)
            self.telemetry.count("PoliciesDeleted")
            self.telemetry.warn("a policy's item was deleted; the policy is off", policy=name, revision=there.revision)
        self.store.list_head(there)

    def _answer(self, name: str, live: Mapping[str, Any], verdict: Mapping[str, Any]) -> bool:
        """Write the verdict unless it stands there already, whoever wrote it; say whether it was written."""
        there = live.get("verdict")
        if isinstance(there, Mapping) and {key: there.get(key) for key in verdict} == dict(verdict):
            return False
        self.store.answer(name, live, {**verdict, "at": format_time(self.clock())})
        return True


def _accepted(head: Head) -> dict[str, Any]:
    return {"status": "accepted", "revision": head.revision, "hash": head.hash, "mode": head.mode.value, "problems": []}


def _rejected(problems: list[Problem], mark: str, in_force: Head | None) -> dict[str, Any]:
    told = [{"path": one.path, "reason": one.reason, "hint": one.hint} for one in problems]
    revision = in_force.revision if in_force else 0
    return {"status": "rejected", "revision": revision, "hash": mark, "problems": told}
