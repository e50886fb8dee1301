"""What triage remembers of each node, during a replay: loaded for nodes that lately had news, as text for all others.

Decides which are kept loaded: a node that is sick tells something each minute, and to read and write its state each
time took longer than to judge it. What is answered is the same. It must not know what stands in a state.
"""

from collections import OrderedDict
from collections.abc import Iterator

from functions.ports.triage import NodeKey
from policies.warm_state import WarmState

MOST_LOADED = 4_096  # a few KB each, as a rule


class States:
    """The states by node. What is handed out is either given back or dropped: it may have been changed half-way."""

    def __init__(self) -> None:
        """Know no node."""
        self._loaded: OrderedDict[NodeKey, WarmState] = OrderedDict()
        self._texts: dict[NodeKey, str] = {}
        self._told: dict[NodeKey, tuple[str, int]] = {}  # the heartbeat that told nothing, and would not again

    def load(self, key: NodeKey) -> str | WarmState:
        """Return the node's state, as text where it cannot be loaded."""
        found = self._loaded.get(key)
        if found is not None:
            self._loaded.move_to_end(key)
            return found
        text = self._texts.get(key, "")
        return WarmState.load(text) or text

    def keep(self, key: NodeKey, state: str | WarmState) -> None:
        """Take a changed *state*."""
        self._told.pop(key, None)
        loaded = WarmState.load(state) if isinstance(state, str) else state
        if loaded is None:
            self._loaded.pop(key, None)
            self._texts[key] = str(state)
            return
        self._loaded[key] = loaded  # at the end: whoever was loaded went there by `load`
        if len(self._loaded) > MOST_LOADED:
            oldest, other = self._loaded.popitem(last=False)
            self._texts[oldest] = other.text

    def drop(self, key: NodeKey) -> None:
        """Forget the node."""
        for each in (self._loaded, self._texts, self._told):
            each.pop(key, None)

    def texts(self) -> Iterator[tuple[NodeKey, str]]:
        """Yield every state as text."""
        for key in {**self._texts, **self._loaded}:
            loaded = self._loaded.get(key)
            yield key, loaded.text if loaded else self._texts[key]

    def is_told(self, key: NodeKey, spool: str, first_seq: int) -> bool:
        """Whether this heartbeat changes no state and fulfils nothing, now or when it is said again."""
        heartbeat = (spool, first_seq)
        if self._told.get(key) == heartbeat:
            return True
        state = self.load(key)
        if isinstance(state, WarmState) and state.is_told(spool, first_seq):
            self._told[key] = heartbeat
            return True
        return False
