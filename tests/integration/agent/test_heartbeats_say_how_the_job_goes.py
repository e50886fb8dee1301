"""A real training process with our library, a real agent: what a heartbeat says of the job, as triage keeps it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from agent.job.beat_files import read_beats
from policies.contract.progress import JobProgress
from policies.contract.vocabulary import Orchestrator
from tests.integration.agent.world import ROOT, World

TRAIN = """if True:
    import time
    from relight_training import beat, saved
    step = 0
    while True:
        step += 1
        beat(step=step, phase="train")
        if step % 10 == 0:
            saved(step)
        time.sleep(0.02)
"""
TOLD = {"RANK": "0", "WORLD_SIZE": "64", "RELIGHT_JOB": "ml/llama", "RELIGHT_ORCHESTRATOR": "eks"}
Eventually = Callable[[Callable[[], bool]], None]


def test_heartbeats_say_how_the_job_goes(world: World, tmp_path: Path, eventually: Eventually) -> None:
    world.make_stream()
    beats = tmp_path / "beats"
    environ = {**TOLD, "RELIGHT_BEATS": str(beats), "RELIGHT_JOB_VALUE": "3", "PYTHONPATH": str(ROOT / "training")}
    with subprocess.Popen([sys.executable, "-c", TRAIN], env=environ) as rank:
        try:
            eventually(lambda: any(one.beat.saves for one in read_beats(beats)))  # the agent looks each ten seconds
            world.start_agent(BEATS=beats, HEARTBEAT_SECONDS=1, CONTAINER_RUNTIME_SOCKET="", KUBELET_HEALTH="")
            said: list[JobProgress] = []

            def there() -> bool:
                said[:] = [job for envelope in world.in_kinesis() for job in envelope.jobs if job.saved_step]
                return bool(said)

            eventually(there)
        finally:
            rank.kill()
    job = said[-1]
    assert (job.id, job.orchestrator, job.world_size, job.value) == ("ml/llama", Orchestrator.EKS, 64, 3.0)
    assert job.alive
    assert job.step is not None
    assert job.saved_step is not None
    assert job.saved_ago is not None
    assert 0 < job.saved_step <= job.step
    assert job.saved_step % 10 == 0
