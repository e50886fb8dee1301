"""A message whose findings have been encoded once already, for their sizes: encoding is the dearest part of a finding.

It must not decide what goes into a message.
"""

from collections.abc import Sequence

from pydantic import PrivateAttr

from policies.contract.base import fit_for_queues
from policies.contract.decisions import Finding, FindingsMessage


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
