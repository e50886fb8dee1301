"""What the tail of one rank's log says happened, from what its lines say.

A run that dies says so many times: ranks time out, the launcher kills the rest, every process leaves an exit code. The
cause is the first line of the strongest kind: hardware and memory, then the program's own error (a Python traceback
outranks any exit code), then what others did, then how it ended. The loss has no error message until it is not a
number: `LossWatch` tells of a jump.

Decides which sighting is the cause. It must not know files or other ranks.
"""

import math
import re
import statistics
from collections import deque
from collections.abc import Iterable

from agent.parsers.sighting import Sighting
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

# Each row outranks those below it.
_STRENGTH = (
    frozenset({Kind.TRAINING_GPU_ERROR, Kind.TRAINING_OUT_OF_MEMORY, Kind.PROCESS_SEGFAULT}),
    frozenset({Kind.TRAINING_CHECKPOINT_CORRUPT, Kind.TRAINING_CHECKPOINT_INCOMPLETE, Kind.TRAINING_LOSS_ANOMALY}),
    frozenset({Kind.TRAINING_USER_ERROR}),
    frozenset({Kind.TRAINING_NETWORK_ERROR, Kind.TRAINING_DESYNCHRONISED}),
    frozenset({Kind.TRAINING_PEER_LOST, Kind.TRAINING_COLLECTIVE_TIMEOUT}),
    frozenset({Kind.TRAINING_KILLED}),
    frozenset({Kind.PROCESS_EXITED}),
)
_RANKS = {kind: rank for rank, kinds in enumerate(_STRENGTH) for kind in kinds}

JUMP = 5.0  # times the usual loss
_HISTORY = 50  # values that make the usual loss
_ENOUGH = 10
# 'loss': 2.31 (HF), lm loss: 2.310000E+00 (Megatron), loss=2.31, train_loss: 2.31, loss 2.31
_LOSS = re.compile(
    r"(?<![A-Za-z_])(?:lm[ _]|train(?:ing)?[ _/])?loss[\"']?\s{0,3}[=: ]\s{0,3}[\"']?"
    r"([0-9]{1,12}(?:\.[0-9]{1,12})?(?:[eE][+-]?[0-9]{1,3})?)(?![0-9.])"
)


def cause(sightings: Iterable[Sighting]) -> Sighting | None:
    """Return the one of *sightings*, in the order of the log, that the others follow from; None without any."""
    return min(sightings, key=lambda sighting: _RANKS.get(sighting.kind, len(_STRENGTH)), default=None)


class LossWatch:
    """Tells when the loss of a run jumps to five times what it was. One for each rank's log; holds fifty numbers."""

    def __init__(self) -> None:
        """Know nothing yet: the first ten values say what is usual."""
        self._values: deque[float] = deque(maxlen=_HISTORY)

    def take(self, line: str) -> list[Sighting]:
        """Return the anomaly that *line*, the next of the log, tells of; the jump itself does not become usual."""
        match = _LOSS.search(line[:4096])
        if match is None:
            return []
        value = float(match[1])
        usual = statistics.median(self._values) if len(self._values) >= _ENOUGH else 0.0
        if not (0.0 < usual * JUMP <= value and math.isfinite(value)):
            self._values.append(value)
            return []
        attributes = {"loss": value, "usual": usual}
        component = Component(type=ComponentType.PROCESS)
        return [Sighting(Kind.TRAINING_LOSS_ANOMALY, Severity.WARNING, component, attributes)]
