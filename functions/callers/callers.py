"""Notes who wrote policies, and tells people of what was not written by a command of ours.

An event may come twice, late, before or after the guard has judged, or never. So nothing here looks at policies: a call
is noted and told by its own id, and whose edit a revision was is read off both when somebody asks (`matching.py`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from functions.callers.reading import UnreadableError, read
from functions.callers.telling import told_of
from functions.ports.calls import Calls
from functions.ports.notices import Notices
from functions.ports.triage import Telemetry


@dataclass(frozen=True)
class Callers:
    """The function with its ports. *own* are the ARNs of the roles of ours that write the table: they are nobody."""

    calls: Calls
    notices: Notices
    telemetry: Telemetry
    own: Collection[str]

    def take(self, records: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        """Take messages of the queue; return the ids of those that nobody can read: they go to its dead letters.

        A dependency that fails raises, and the whole batch comes again.
        """
        unreadable = []
        for record in records:
            try:
                self._note(str(record["body"]))
            except UnreadableError as error:
                self.telemetry.warn("A call of CloudTrail is not understood.", reason=str(error)[:200])
                unreadable.append(str(record["messageId"]))
        self.telemetry.count("CallsUnreadable", len(unreadable))
        return unreadable

    def _note(self, body: str) -> None:
        reading = read(body)
        if reading.role in self.own or not reading.calls:
            return
        for call in reading.calls:
            self.calls.keep(call)
        notice = told_of(reading.calls)
        if notice:
            self.notices.tell(notice)
        self.telemetry.count("CallsNoted", len(reading.calls))
