"""Which operations this node has, and the source that waits for commands. Decides only what is wired to what."""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from agent.commands.doing import Doing
from agent.commands.doings.burn_in import BurnsIn
from agent.commands.doings.collect_evidence import CollectsEvidence
from agent.commands.doings.request_save import RequestsSave
from agent.commands.doings.reset_gpu import ResetsGpu
from agent.commands.doings.restart_process import RestartsProcess, Training
from agent.commands.doings.restart_service import RestartsService
from agent.commands.dynamo import DynamoNodeTable
from agent.commands.pacing import Pacing, ServerClock
from agent.commands.source import CommandSource, Node
from agent.commands.worker import Clocks, Doings
from agent.job.matching import Matched
from agent.polls.source import since_boot
from agent.wiring import Run, Wiring
from policies.contract.commands.items import instance_arns, table_of
from policies.contract.commands.operations import Operation


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings = wiring.settings
    if not settings.commands_table:
        return {}
    name, region = table_of(settings.commands_table)
    table = DynamoNodeTable(name, region, instance_arns(settings.commands_table) + wiring.node.instance_id)
    clocks = Clocks(ServerClock(wiring.clock, time.monotonic), Pacing(settings.commands_seconds, time.monotonic))
    doings = doings_of(wiring, clocks.server)
    node = Node(
        spool=wiring.spool,
        boot_id=wiring.node.boot_id,
        takes=frozenset(settings.commands_allowed) & doings.keys(),
        stop_seconds=settings.stop_seconds,
        monotonic=time.monotonic,
    )
    source = CommandSource(table, doings, node, clocks)
    wiring.board.tell("commands", source.status)
    return {"commands": source.run}


def doings_of(wiring: Wiring, clock: ServerClock) -> Doings:
    """Return every operation that can be done here, allowed or not."""
    procfs, beats = wiring.settings.procfs, wiring.settings.beats

    def beating() -> Sequence[Matched]:
        return wiring.table.beating(at_most_old=0.0)

    found: dict[Operation, Doing[Any]] = {
        Operation.REQUEST_SAVE: RequestsSave(beats, beating),
        Operation.RESET_GPU: ResetsGpu(procfs, wiring.prober.resting),
        Operation.RESTART_PROCESS: RestartsProcess(procfs, lambda: _training(beating()), clock.now, since_boot),
        Operation.RESTART_SERVICE: RestartsService(),
        Operation.BURN_IN: BurnsIn(procfs),
    }
    if wiring.evidence is not None:
        found[Operation.COLLECT_EVIDENCE] = CollectsEvidence(wiring.evidence)
    return found


def _training(matched: Iterable[Matched]) -> list[Training]:
    return [Training(one.process.pid, one.process.name, one.process.started) for one in matched if one.process]
