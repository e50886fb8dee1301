"""An agent is killed again and again while GPUs break, and each fault arrives under one id and one seq."""

import random
import time
from collections.abc import Callable
from functools import partial

from tests.integration.agent.world import World

FAULTS_A_LIFE = 30
LIVES = 4


def has_spoken(world: World, so_far: int) -> bool:
    return len(world.in_kinesis()) > so_far


def test_killed_while_reading_and_sending(world: World, eventually: Callable[[Callable[[], bool]], None]) -> None:
    world.make_stream()
    chance = random.Random(7)
    for _ in range(LIVES):
        agent = world.start_agent(LINGER_MILLISECONDS=0)
        eventually(partial(has_spoken, world, len(world.in_kinesis())))
        for _ in range(FAULTS_A_LIFE // 3):
            world.break_gpus(3)
            time.sleep(chance.random() * 0.01)
        agent.kill()
        agent.wait(90)
    world.start_agent()
    eventually(lambda: len(world.seen()) >= world.written)
    seen = world.seen()
    assert sorted(seen) == list(range(world.written))
    assert all(len(ids) == 1 for ids in seen.values())
    assert len(set.union(*seen.values())) == world.written
    assert len({envelope.spool_id for envelope in world.in_kinesis()}) == 1


def test_killed_before_it_could_send_anything(world: World, eventually: Callable[[Callable[[], bool]], None]) -> None:
    agent = world.start_agent(OVERFLOW_QUEUE_URL="")
    world.break_gpus(5)
    journal = world.folder / "spool" / "spool.journal"
    eventually(lambda: journal.exists() and journal.read_bytes().count(b'"gpu.xid"') == 5)
    agent.kill()
    agent.wait(90)
    world.make_stream()
    world.start_agent()
    eventually(lambda: len(world.seen()) == 5)
    assert sorted(world.seen()) == list(range(5))
