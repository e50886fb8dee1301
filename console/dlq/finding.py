"""Which queues of a stack are dead-letter queues, and whose.

Decides by what SQS says: a queue that others redrive to is theirs; a queue that neither redrives nor is named as a
lane's own is a resting place too. Names come from the stack's outputs (``DecisionsQueueUrl`` → ``decisions``).
"""

import re
from collections.abc import Mapping, Sequence

from console.dlq.model import DeadQueue, DlqError, QueueState, Stack
from console.dlq.ports import Queues

_OUTPUT = "QueueUrl"
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def dead_queues(stack: Stack, queues: Queues) -> Sequence[DeadQueue]:
    """Return every dead-letter queue of *stack*, by name."""
    states = [queues.describe(url) for url in stack.queue_urls]
    sources = {state.dead_letters: state for state in states if state.dead_letters}
    names = _names(stack)
    found = [_dead(state, sources, names) for state in states if not state.dead_letters]
    return sorted(found, key=lambda queue: queue.name)


def choose(found: Sequence[DeadQueue], name: str) -> DeadQueue:
    """Return the queue of this name; DlqError with the names there are."""
    for queue in found:
        if name == queue.name:
            return queue
    there = ", ".join([*(queue.name for queue in found), "rejects", "failures"])
    raise DlqError(f"there is no dead-letter queue {name!r}.", hint=f"There are: {there}.")


def _names(stack: Stack) -> Mapping[str, str]:
    outputs = {key: url for key, url in stack.outputs.items() if key.endswith(_OUTPUT)}
    return {url: _HUMP.sub("-", key.removesuffix(_OUTPUT)).lower() for key, url in outputs.items()}


def _dead(state: QueueState, sources: Mapping[str, QueueState], names: Mapping[str, str]) -> DeadQueue:
    source = sources.get(state.arn)
    if source is None:
        return DeadQueue(names.get(state.url, state.arn.rpartition(":")[2]), state)
    source_name = names.get(source.url, source.arn.rpartition(":")[2])
    return DeadQueue(f"{source_name}-dlq", state, source, source_name)
