"""A message whose findings have been encoded once already, for their sizes: encoding is the dearest part of a finding.

What findings share is encoded once for all of them. It must not decide what goes into a message.
"""

from collections.abc import Sequence
from datetime import datetime

from pydantic import PrivateAttr

from policies.contract.base import Model, fit_for_queues
from policies.contract.decisions import Finding, FindingsMessage
from policies.contract.times import format_time

_SHARED = {"node", "policy", "window_start", "first_observed_at", "observed_at", "queued_at", "decided_at"}


class Encoder:
    """Encodes the findings of one batch: a policy, a node and a moment that several of them hold, once."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: dict[int, tuple[object, str]] = {}  # by identity; held, so that no other takes its place

    def encode(self, finding: Finding) -> str:
        """Return the JSON of *finding*: what its `to_json` says, what is shared at the end."""
        own = finding.model_dump_json(exclude_none=True, exclude=_SHARED)
        start = format_time(finding.window_start)
        first = start if finding.first_observed_at is finding.window_start else format_time(finding.first_observed_at)
        queued, decided = self._moment(finding.queued_at), self._moment(finding.decided_at)
        return fit_for_queues(
            f'{own[:-1]},"node":{self._model(finding.node)},"policy":{self._model(finding.policy)}'
            f',"window_start":"{start}","first_observed_at":"{first}","observed_at":"{format_time(finding.observed_at)}"'
            f',"queued_at":"{queued}","decided_at":"{decided}"}}'
        )

    def _model(self, model: Model) -> str:
        known = self._known.get(id(model))
        if known is None:
            known = self._known[id(model)] = (model, model.to_json())
        return known[1]

    def _moment(self, moment: datetime) -> str:
        known = self._known.get(id(moment))
        if known is None:
            known = self._known[id(moment)] = (moment, format_time(moment))
        return known[1]


class PackedMessage(FindingsMessage):
    """The same message with the same JSON, put together of the texts of its findings."""

    _texts: tuple[str, ...] = PrivateAttr(default=())

    @classmethod
    def of(cls, cluster: str, findings: Sequence[tuple[Finding, str]]) -> "PackedMessage":
        """Return the message of *findings*, each with its JSON."""
        message = cls.model_construct(cluster=cluster, findings=tuple(finding for finding, _text in findings))
        message._texts = tuple(text for _finding, text in findings)  # noqa: SLF001 - its own
        return message

    def __eq__(self, other: object) -> bool:
        """Compare what is said, however it was put together."""
        return isinstance(other, FindingsMessage) and dict(self) == dict(other)

    __hash__ = FindingsMessage.__hash__

    def to_json(self) -> str:
        """Return the wire form."""
        if len(self._texts) != len(self.findings):
            return super().to_json()
        shell = self.model_dump_json(exclude_none=True, exclude={"findings"})
        return fit_for_queues(f'{shell[:-1]},"findings":[{",".join(self._texts)}]}}')
