"""A checkpoint that was set aside: the same incident stops the job again and lets it go from the one before it."""

import json

from functions.acts.support import Pace
from functions.kubernetes.resume import ResumeJob
from functions.kubernetes.suspend import SuspendJob
from functions.ports.kubernetes import (
    CHECKPOINTS,
    RESUME_FROM,
    RESUME_STEP,
    RESUMED_BY,
    SUSPENDED_BY,
    Job,
    JobName,
    Node,
)
from functions.twins.instances import MemoryInstances
from functions.twins.kubernetes import MemoryCluster
from functions.twins.objects import MemoryObjects
from policies.contract.events import JobRef
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import BUCKET, INCIDENT, PLACE, Clock, Drive

NAME = JobName("ml", "run")
JOB = JobRef(id="ml/run")


def test_suspended_and_resumed_twice_it_points_to_the_earlier_step() -> None:
    clock, cluster = Clock(), MemoryCluster()
    instances, objects = MemoryInstances(clock), MemoryObjects(clock)
    instances.launch("gpus", "i-n0")
    cluster.nodes["n0"] = Node("n0", "1", "i-n0", ready=True)
    cluster.jobs[NAME] = Job(NAME, "uid", "1", annotations={CHECKPOINTS: PLACE}, replicas=("Worker",))
    for step in (20, 10):
        cluster.start_pods(NAME, ["n0"])
        suspend = SuspendJob(connect=cluster.connect, instances=instances, pace=Pace())
        stop = Drive(suspend, clock, node="i-old", job=JOB)
        assert stop().status is RungStatus.WAITING
        cluster.settle()
        done = stop()
        assert (done.status, "stood_aside" in done.outcome) == (RungStatus.DONE, False)
        assert cluster.jobs[NAME].annotations[SUSPENDED_BY] == INCIDENT
        facts = {"chosen_step": step, "checkpoint": f"{PLACE}/step-{step}", "checkpoints": PLACE}
        clock.move(60)
        go = Drive(ResumeJob(connect=cluster.connect, objects=objects), clock, node="i-old", job=JOB, facts=facts)()
        assert (go.status, go.outcome["resumed_step"]) == (RungStatus.DONE, step)
        assert "stood_aside" not in go.outcome
        job = cluster.jobs[NAME]
        assert (job.suspended, job.annotations[RESUMED_BY]) == (False, INCIDENT)
        assert cluster.templates[NAME] == {RESUME_FROM: f"{PLACE}/step-{step}", RESUME_STEP: str(step)}
        pointer = objects.get(BUCKET, "run-7/relight-resume.json")
        assert pointer
        assert json.loads(pointer.body)["step"] == step
