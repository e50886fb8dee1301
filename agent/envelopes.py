"""Events that wait, as one envelope: bytes of the wire form, put together from what the spool holds.

Decides sizes. It must not know lanes.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from agent.spool.state import WaitingEvent
from policies.contract.envelope import ENVELOPE_LIMIT_BYTES, SCHEMA_VERSION, NodeIdentity
from policies.contract.times import format_time

_HEAD_BYTES = 8 * 1024  # more than a node's identity, what is said of jobs and the rest of the head take
EVENTS_BYTES = ENVELOPE_LIMIT_BYTES - _HEAD_BYTES


class EnvelopeMaker:
    """Makes the envelopes of one node."""

    def __init__(self, node: NodeIdentity, agent_version: str, driver: Callable[[], str] = str) -> None:
        """Speak for *node*. *driver* tells the version of its driver now, empty for that of *node*; it never waits."""
        self.node = node
        self._node = node.to_json().encode()
        self._version = agent_version
        self._driver = driver

    def make(
        self, spool_id: str, first_seq: int, events: Sequence[WaitingEvent], sent_at: datetime, jobs: bytes = b""
    ) -> bytes:
        """Return the envelope of *events*; of none, a heartbeat. *jobs* is a JSON array, or nothing."""
        head = {
            "schema_version": SCHEMA_VERSION,
            "spool_id": spool_id,
            "first_seq": first_seq,
            "sent_at": format_time(sent_at),
            "agent_version": self._version,
        }
        start = json.dumps(head, separators=(",", ":")).encode()[:-1]
        said = b',"jobs":%b' % jobs if jobs else b""
        if (driver := self._driver()) and driver != self.node.driver_version:
            self.node = self.node.model_copy(update={"driver_version": driver})
            self._node = self.node.to_json().encode()
        texts = b",".join(event.body for event in events)
        return b'%b,"node":%b,"events":[%b]%b}' % (start, self._node, texts, said)
