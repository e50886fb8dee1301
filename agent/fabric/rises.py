"""How much a counter rose within a window, over polls and restarts.

Only rises are kept, so that counters that stand still, which is nearly all, take no room in a poll's memory. What rose
while nobody looked for longer than the window (the agent was not there) did so all along: only its share counts. It
must not know what a rise means.
"""

from agent.polls.reading import Instant, Memory, increase

MAX_RISES = 32  # of one counter: older ones are put together, which only shifts when they leave the window


def risen(memory: Memory, key: str, value: int, now: Instant, within: float) -> int:
    """Note *value* of the counter *key*; return by how much it rose in the last *within* seconds."""
    return note_rise(memory, key, increase(memory, key, value), now, within)


def looked(memory: Memory, now: Instant) -> None:
    """Note that all counters of this poll were read: call it at the end of each."""
    memory["looked"] = now.ticks


def note_rise(memory: Memory, key: str, by: int, now: Instant, within: float) -> int:
    """Note that *key* rose *by* so much since the last poll; return as above."""
    everything: dict[str, list[list[float]]] = memory.setdefault("rises", {})
    unseen = now.ticks - memory.get("looked", now.ticks)
    if by > 0 and unseen > within:
        by = max(1, int(by * within / unseen))
    rises = [rise for rise in everything.get(key, []) if now.ticks - rise[0] < within]
    if by > 0:
        rises.append([round(now.ticks, 1), by])
    if len(rises) > MAX_RISES:
        rises[:2] = [[rises[1][0], rises[0][1] + rises[1][1]]]
    if rises:
        everything[key] = rises
    else:
        everything.pop(key, None)
    return int(sum(rise[1] for rise in rises))
