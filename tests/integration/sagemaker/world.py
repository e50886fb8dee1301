"""A deployment with SageMaker training jobs, and what their containers do: obey, write checkpoints."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from infra.settings import read
from infra.synth import own_copy
from local.aws.deploy import deploy
from local.aws.principals import role_name
from local.aws.server import EmbeddedAws
from local.demo import seeding
from local.demo.alerts import Pager
from local.demo.incidents import read_incidents
from local.fleet import dcp
from local.fleet.checkpoints import S3Checkpoints
from policies.contract.times import format_time
from policies.coordination.incident import Incident

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = ROOT / "tests" / "data" / "deployments" / "sagemaker.toml"
CLUSTER, BUCKET = "jobs", "jobs-checkpoints"
RANKS = range(4)
TIME_SCALE = 0.05
SECONDS = 180.0
XID_79 = "xid-79-fell-off-the-bus"
# What SageMaker says while it repairs, and what a job ends with that it could not (developer guide, "Cluster repairs
# for GPU errors"; the text of InternalServerError as in public reports).
REPAIRING = "Repairing training cluster due to hardware failure"
INTERNAL = "InternalServerError: We encountered an internal error. Please try again."
ECC = 'AlgorithmError: ErrorMessage "RuntimeError: CUDA error: uncorrectable ECC error encountered", exit code: 1'


@dataclass(frozen=True)
class Run:
    """One run: its first job's name, and where its jobs keep their checkpoints."""

    world: "World"
    name: str

    @property
    def place(self) -> str:
        return f"s3://{BUCKET}/{self.name}"

    def start(self) -> None:
        """What the owner of the run does."""
        self.world.aws.client("sagemaker").create_training_job(
            TrainingJobName=self.name,
            AlgorithmSpecification={"TrainingImage": "image", "TrainingInputMode": "File"},
            RoleArn=self.world.role,
            HyperParameters={"lr": "0.1"},
            Environment={"NCCL_DEBUG": "INFO"},
            OutputDataConfig={"S3OutputPath": f"s3://{BUCKET}/output"},
            ResourceConfig={"InstanceType": "ml.p5.48xlarge", "InstanceCount": 4, "VolumeSizeInGB": 100},
            StoppingCondition={"MaxRuntimeInSeconds": 86_400},
            CheckpointConfig={"S3Uri": self.place, "LocalPath": "/opt/ml/checkpoints"},
            Tags=[{"Key": "relight:cluster", "Value": CLUSTER}, {"Key": "team", "Value": "research"}],
        )

    def save(self, *steps: int, torn: bool = False) -> None:
        """What SageMaker uploads of the container's checkpoints; torn: the last shard is still on its way."""
        store = S3Checkpoints(self.world.aws.client("s3"), BUCKET, self.name)
        for step in steps:
            saved = dcp.checkpoint(step, RANKS, save_id=f"{self.name}-{step}")
            late = dcp.shard_name(RANKS[-1]) if torn else ""
            for shard, content in saved.shards.items():
                suffix = ".sagemaker-uploading" if shard == late else ""
                store.put(f"{saved.folder}/{shard}{suffix}", content)
            store.put(f"{saved.folder}/{dcp.METADATA_FILE}", saved.metadata)

    def job(self, name: str = "") -> dict[str, Any]:
        found: dict[str, Any] = self.world.aws.client("sagemaker").describe_training_job(
            TrainingJobName=name or self.name
        )
        return found

    def tags(self, name: str) -> dict[str, str]:
        arn = self.job(name)["TrainingJobArn"]
        listed = self.world.aws.client("sagemaker").list_tags(ResourceArn=arn)["Tags"]
        return {tag["Key"]: tag["Value"] for tag in listed}

    def fail(self, reason: str, name: str = "") -> None:
        self.world.aws.set_training_job(name or self.name, "Failed", reason=reason)

    def jobs(self) -> list[str]:
        """The names of the run's jobs, oldest first."""
        pages = self.world.aws.client("sagemaker").get_paginator("list_training_jobs").paginate()
        names = [each["TrainingJobName"] for page in pages for each in page["TrainingJobSummaries"]]
        return sorted(name for name in names if name == self.name or name.startswith(f"{self.name}-r"))

    def incidents(self) -> list[Incident]:
        """The incidents about this run, oldest first."""
        return [each for each in self.world.incidents() if each.job and each.job.id in {self.name, *self.jobs()}]

    def wait_started(self, name: str) -> None:
        self.world.wait(lambda: name in self.jobs(), f"{name} was not started")

    def wait_at(self, stage: str, count: int = 1) -> list[Incident]:
        """The run's incidents that have a line of this *stage*, once there are *count*."""

        def there() -> list[Incident]:
            return [each for each in self.incidents() if any(line.stage == stage for line in each.timeline)]

        self.world.wait(lambda: len(there()) >= count, f"{count} incident(s) of {self.name} did not come to {stage}")
        return there()

    def wait_closed(self, count: int = 1) -> list[Incident]:
        """The run's incidents, once there are *count* and none is open."""

        def all_closed() -> bool:
            found = self.incidents()
            return len(found) >= count and not any(each.status.is_open for each in found)

        self.world.wait(all_closed, f"{count} incident(s) of {self.name} did not close")
        return self.incidents()

    def train_on(self, name: str) -> int:
        """What the container of job *name* does: load the step it is told, save a later one; return the step told."""
        step = int(self.job(name)["Environment"]["RELIGHT_RESUME_STEP"])
        self.save(step + 10)
        return step


@dataclass(frozen=True)
class World:
    """The embedded AWS with this deployment in it."""

    aws: EmbeddedAws
    outputs: dict[str, str]
    pager: Pager
    role: str

    def run(self, name: str) -> Run:
        return Run(self, name)

    def incidents(self) -> list[Incident]:
        return read_incidents(self.aws, self.outputs["IncidentsTable"])

    def role_of(self, function: str) -> str:
        """The name of the role under which a function (`Sagemaker`) calls AWS."""
        name = self.outputs[f"{function}Function"]
        return role_name(self.aws.client("lambda").get_function_configuration(FunctionName=name)["Role"])

    def sees(self, xid: int, job: str, host: str = "algo-1") -> None:
        """What an agent in the container of *job* sends."""
        now = format_time(datetime.now(UTC))
        event = {
            "id": f"{xid:032x}",
            "seq": 0,
            "kind": "gpu.xid",
            "severity": "critical",
            "source": "kernel_log",
            "observed_at": now,
            "first_observed_at": now,
            "component": {"type": "gpu", "pci": "0000:53:00"},
            "job": {"id": job, "orchestrator": "sagemaker"},
            "attributes": {"xid": xid},
        }
        node = {"cluster": CLUSTER, "name": f"{job}-{host}", "instance_id": f"{job}/{host}"}
        shell = {"schema_version": 1, "node": node, "spool_id": f"{job}/{host}", "first_seq": 0, "sent_at": now}
        self.aws.client("kinesis").put_record(
            StreamName=self.outputs["FaultsStream"],
            Data=json.dumps({**shell, "events": [event]}).encode(),
            PartitionKey=job,
        )

    def wait(self, happened: Callable[[], object], otherwise: str, seconds: float = SECONDS) -> None:
        """Return when it has happened; else fail with what the incidents are at."""
        deadline = time.monotonic() + seconds
        while not happened():
            told = [(each.job and each.job.id, str(each.status), each.reason) for each in self.incidents()]
            assert time.monotonic() < deadline, f"{otherwise} within {seconds:g} s; {told}; {self.aws.data_dir}"
            threading.Event().wait(0.1)


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Deploy what tests/data/deployments/sagemaker.toml says."""
    assembly = own_copy(ROOT / "build" / "cdk.sagemaker.out", folder / "cdk.out", settings=SETTINGS)
    deployment = read(SETTINGS)
    with EmbeddedAws(folder / "aws", code_root=ROOT, time_scale=TIME_SCALE) as aws:
        aws.client("s3").create_bucket(Bucket=BUCKET)
        outputs = deploy(aws, assembly=assembly, stack=deployment.name)
        policies = seeding.shipped_policies()
        policies[XID_79]["limits"]["replacements"]["at_most"] = 20  # more stories than faults in ten minutes
        seeding.put_policies(aws, outputs["PoliciesTable"], policies)
        seeding.wait_until_accepted(aws, outputs["PoliciesTable"], set(policies), SECONDS)
        (role,) = [each.sagemaker_role_arn for each in deployment.clusters if each.sagemaker_role_arn]
        yield World(aws, outputs, Pager(aws, outputs["AlertsTopicArn"]), role)
