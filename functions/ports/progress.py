"""Where triage keeps how jobs go. It must not know AWS; the twin is `functions/twins/progress.py`."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple, Protocol

from functions.ports.facts import FactKey
from policies.contract.errors import DependencyError


class Word(NamedTuple):
    """What was said of a job ``at`` some moment, to be forgotten by the table some time after ``expires``."""

    text: str
    at: datetime
    expires: datetime


class ProgressWriter(Protocol):
    """Writing the documents ``job`` of facts."""

    def keep_newest(self, words: Mapping[FactKey, Word]) -> Mapping[FactKey, DependencyError]:
        """Write each of *words* unless what is there is as new or newer: then nothing happens.

        Return what could not be written. One job's failure is its own.
        """
        ...
