"""What a person refused, as an incident and a lease keep it: who said no, when, until when, and to what.

Decides what the words of persons on one incident come to: the one that was said last counts, whichever arrives first,
and a no without a time shortens none; and of the refusals of several incidents about one thing whichever holds longest.
It must not know incidents or leases.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from policies.contract.base import Model
from policies.contract.restraints import ApproveMessage
from policies.contract.times import Moment, add_seconds
from policies.coordination.judgements import LONGEST_WORDS

# As often as Prometheus Alertmanager says again what goes on (repeat_interval: 4h unless told otherwise).
DENIED_SECONDS = 4 * 3600.0
MOST_DENIALS = 8  # words on one incident
MOST_REFUSALS = 16  # incidents of one node: eight GPUs with two policies; an item of them has some 50 KB at most
_LETTERS = 16  # of the id of words: an incident tells a few of them apart


class Denial(Model):
    """A no that holds from ``at`` until before ``until``; not at all where both are the same. ``id``: of the words.

    ``usual``: nobody said for how long.
    """

    id: str
    at: Moment
    until: Moment
    by: str
    why: str = ""
    usual: bool = False

    @property
    def said(self) -> str:
        """Return who said it and why."""
        return f"by {self.by}: {self.why}" if self.why else f"by {self.by}"


class Refusal(Model):
    """What *incident* asked for and a person refused: ``subjects`` are digests of policy, fault, part and run."""

    incident: str
    subjects: tuple[str, ...]
    denial: Denial


def denial_of(message: ApproveMessage, asked: datetime, now: datetime) -> Denial:
    """Return the no in *message*, on what a person was *asked* then.

    It was said after that and before now, whatever the clock says where it was said.
    """
    at = min(max(message.at or now, asked), now)
    seconds = DENIED_SECONDS if message.for_seconds is None else message.for_seconds
    by, why = message.by[:LONGEST_WORDS], message.reason[:LONGEST_WORDS]
    return Denial(
        id=message.deduplication_id[:_LETTERS],
        at=at,
        until=add_seconds(at, seconds),
        by=by,
        why=why,
        usual=message.for_seconds is None,
    )


def with_word(before: Sequence[Denial], word: Denial) -> tuple[Denial, ...]:
    """Return *before* with *word*, in the order in which they were said; the same where it is known."""
    if any(each.id == word.id for each in before):
        return tuple(before)
    return tuple(sorted((*before, word), key=lambda each: (each.at, each.id))[-MOST_DENIALS:])


def knows(words: Sequence[Denial], message: ApproveMessage) -> bool:
    """Whether the no in *message* is among *words*, or something was said behind it."""
    name = message.deduplication_id[:_LETTERS]
    return any(each.id == name or (message.at is not None and each.at > message.at) for each in words)


def standing(words: Sequence[Denial]) -> Denial:
    """Return what *words* on one incident, of which there are some, come to: the last no, until it was ended."""
    found = words[0]
    for each in words[1:]:
        if each.at == each.until:
            found = found.model_copy(update={"until": min(found.until, each.at)})
        else:
            found = each.model_copy(update={"until": max(found.until, each.until)}) if each.usual else each
    return found


def refuse(refusals: Sequence[Refusal], told: Refusal) -> tuple[Refusal, ...]:
    """Return *refusals* with *told* instead of what was refused of its incident before; the longest of very many."""
    others = (each for each in refusals if each.incident != told.incident)
    longest = sorted((*others, told), key=lambda each: (each.denial.until, each.denial.at, each.incident))
    return tuple(longest[-MOST_REFUSALS:])


def forget(refusals: Sequence[Refusal], subjects: Iterable[str]) -> tuple[Refusal, ...]:
    """Return *refusals* without *subjects*, of which a person said yes since."""
    gone = frozenset(subjects)
    left = ((each, tuple(one for one in each.subjects if one not in gone)) for each in refusals)
    return tuple(each.model_copy(update={"subjects": kept}) for each, kept in left if kept)


def holding(refusals: Sequence[Refusal], subject: str, now: datetime) -> Refusal | None:
    """Return the refusal of *subject* that holds longest, None when none holds."""
    mine = [each for each in refusals if subject in each.subjects and now < each.denial.until]
    return max(mine, key=lambda each: (each.denial.until, each.denial.at, each.incident), default=None)


def last_of(refusals: Sequence[Refusal], subjects: Iterable[str]) -> Denial | None:
    """Return the last no to one of *subjects*, whether it holds or not; None: there was none."""
    wanted = frozenset(subjects)
    return max(
        (each.denial for each in refusals if wanted & set(each.subjects)), key=lambda each: each.at, default=None
    )


def told(denial: Denial) -> str:
    """Return why nobody acts, in the same words as long as it is the same no."""
    why = f": {denial.why}" if denial.why else ""
    return f"denied by {denial.by} at {_clock(denial.at)} until {_clock(denial.until)}{why}"


def told_of_before(denial: Denial) -> str:
    """Return what whoever is asked again should know."""
    why = f": {denial.why}" if denial.why else ""
    return f"it was denied before by {denial.by} at {_clock(denial.at)}{why}"


def outcome_told(words: Sequence[Denial]) -> str:
    """Return what a person's last word came to, as the reason of the incident that it ended."""
    last, until = words[-1], standing(words).until
    if last.at < until:
        return f"{last.said}; nobody is asked again until {_clock(until)}"
    return last.said if len(words) == 1 else f"{last.said}; whoever asks next is heard again"


def _clock(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
