"""What of an archive a kept replay has behind it: whoever goes on from there must find it as it was.

Decides what makes an archive another one: an object more, one fewer or one of another size, in the time that was told
already. It must not know what is in an object.
"""

from datetime import datetime

from functions.ports.archive import ArchiveReader
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES
from policies.contract.identifiers import stable_id
from policies.moments import FIRST
from simulator.archive.period import objects_of

_BITS = 128


class Behind:
    """The objects from *begin* on, summed up as the time passes: each day is listed once, whatever its midnights."""

    def __init__(self, reader: ArchiveReader, begin: datetime) -> None:
        """Stand at *begin*, with nothing behind."""
        self._reader = reader
        # What was in force at the beginning, and who had been found before it, is told of all days.
        self._until = {EVENTS: begin, INCIDENTS: FIRST, POLICIES: FIRST}
        self._sum = 0

    def at(self, midnight: datetime) -> str:
        """Return what tells the objects before *midnight* from any others; midnights come one after the other.

        Raises DependencyError when they cannot be listed.
        """
        for family, until in self._until.items():
            found = objects_of(self._reader, family, until, midnight)
            self._sum += sum(int(stable_id(one.name.key, one.size), 16) for one in found)
        self._until = dict.fromkeys(self._until, midnight)
        return f"{self._sum % (1 << _BITS):032x}"
