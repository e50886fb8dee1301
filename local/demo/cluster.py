"""Everything on one machine: the embedded AWS with Relight deployed, a Kubernetes API, a fleet and its training job.

Wires the parts and takes them down in the right order; it tells nothing and judges nothing. Integration tests use it
as well as the demo.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from infra.synth import own_copy
from local.aws.deploy import deploy
from local.aws.server import EmbeddedAws
from local.demo import seeding
from local.demo.access import relight_rules
from local.demo.alerts import Pager
from local.demo.errors import TookTooLongError
from local.demo.incidents import read_incidents
from local.fleet import infrastructure
from local.fleet.agent_environment import Waits, agent_environment
from local.fleet.agents import Agents
from local.fleet.checkpoints import S3Checkpoints
from local.fleet.fleet import Delays, Fault, Fleet
from local.fleet.gang import KubernetesGang
from local.fleet.infrastructure import Site
from local.fleet.job import JobDriver, beat_header, pytorch_job
from local.fleet.machines import Machine, MachineRoom
from local.fleet.ranks import Ranks
from local.fleet.training import Tear, Training
from local.kubernetes.cluster import KubernetesCluster
from local.kubernetes.controllers.world import Timings
from local.kubernetes.resources import PYTORCH_JOBS
from policies.coordination.incident import Incident

ROOT = Path(__file__).resolve().parents[2]
STACK = "Relight"
TIME_SCALE = 0.05
_HEARTBEAT_SECONDS = 3.0  # 30 s, shortened as far as the sweep's patience is (functions/sweep/settings.py)
_IMPAIRED_SECONDS = 120.0  # two status checks, a minute apart, before scaling
HANG_AFTER_SECONDS = 120.0
_TICK_SECONDS = 0.05  # one step of training
_READY_SECONDS = 120.0
_BOOT_SECONDS = 20.0  # from EC2's "running" to a kubelet, before scaling


def own_assembly(folder: Path) -> Path:
    """Return a copy of the synthesised app in *folder*: workers import from it for as long as the cluster lives."""
    return own_copy(ROOT / "build" / "cdk.out", folder)


def utc_now() -> datetime:
    return datetime.now(UTC)


class LocalCluster:
    """A context manager; inside, the job trains and Relight watches.

    Only the shipped `policies` of these names are put into force; None: all.
    `on_phase` is told what is being done, in a few words, as soon as it begins; `on_end` is called before the first
    part is taken down, of a world that could not be built as well.
    """

    def __init__(
        self,
        data_dir: Path,
        *,
        site: Site | None = None,
        time_scale: float = TIME_SCALE,
        tear: Tear = Tear.NO_METADATA,
        hang_after_seconds: float = HANG_AFTER_SECONDS,
        policies: frozenset[str] | None = None,
        on_phase: Callable[[str], None] = lambda _phase: None,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.data_dir = data_dir
        self.site = site or Site()
        self.time_scale = time_scale
        self._tear = tear
        self._hang_after_seconds = hang_after_seconds
        self._policies = policies
        self._on_phase = on_phase
        self._on_end = on_end
        self._stack = contextlib.ExitStack()
        self.room = MachineRoom()
        self.faults: list[Fault] = []
        # Set while the cluster is entered:
        self.aws: EmbeddedAws
        self.outputs: dict[str, str]
        self.kubernetes: KubernetesCluster
        self.agents: Agents
        self.fleet: Fleet
        self.ranks: Ranks
        self.training: Training
        self.pager: Pager

    def __enter__(self) -> Self:
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._on_end()
        finally:
            self._stack.close()

    def _build(self) -> None:
        self.data_dir.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(max_workers=1) as side:
            assembly = side.submit(own_assembly, self.data_dir / "cdk.out")
            self._start_servers()
            self._deploy(assembly)
        self._start_fleet()
        self._start_job()

    def _start_servers(self) -> None:
        self._on_phase("starting the embedded AWS and the Kubernetes API")
        # Their parent loads its libraries while the server loads its own; but agents end first, with a server to tell.
        self.agents = self._stack.enter_context(Agents(self.data_dir))
        aws = EmbeddedAws(self.data_dir / "aws", code_root=ROOT, time_scale=self.time_scale)
        self.aws = self._stack.enter_context(aws)
        self._stack.callback(self.agents.close)
        timings = Timings().scaled(self.time_scale)
        cluster = KubernetesCluster(self.room, rules=relight_rules(), timings=timings, now=utc_now)
        self.kubernetes = self._stack.enter_context(cluster)
        infrastructure.build(self.aws, self.site)
        self.aws.set_eks_endpoint(self.site.eks_cluster, self.kubernetes.url)

    def _deploy(self, assembly: "Future[Path]") -> None:
        if not assembly.done():
            self._on_phase("waiting for the CloudFormation template (half a minute, the first time)")
        folder = assembly.result()
        self._on_phase("deploying Relight")
        self.outputs = deploy(self.aws, assembly=folder, stack=STACK)
        infrastructure.attach_node_policy(self.aws, self.outputs["NodePolicyArn"])
        self.pager = Pager(self.aws, self.outputs["AlertsTopicArn"])
        documents = seeding.shipped_policies(self._policies)
        table = self.outputs["PoliciesTable"]
        seeding.put_policies(self.aws, table, documents)
        self._on_phase("waiting for the guard to accept the policies")
        seeding.wait_until_accepted(self.aws, table, set(documents), _READY_SECONDS)

    def _start_fleet(self) -> None:
        self._on_phase(f"booting {self.site.size} × {self.site.instance_type} with an agent each")
        self.fleet = Fleet(
            aws=self.aws,
            site=self.site,
            room=self.room,
            kubernetes=self.kubernetes.store,
            agents=self.agents,
            environment=self._agent_environment,
            folder=self.data_dir / "nodes",
            delays=Delays(_BOOT_SECONDS * self.time_scale, _IMPAIRED_SECONDS * self.time_scale),
        )
        self._stack.callback(self.fleet.stop)
        self.fleet.start()
        self.wait_for(lambda: len(self.room) == self.site.size, _READY_SECONDS, "the fleet did not boot")

    def _agent_environment(self, machine: Machine) -> dict[str, str]:
        waits = Waits(_HEARTBEAT_SECONDS, self._hang_after_seconds)
        return agent_environment(self.aws, self.outputs, self.site, machine, waits)

    def _start_job(self) -> None:
        self._on_phase("starting the training job")
        self.kubernetes.store.create(PYTORCH_JOBS, self.site.namespace, pytorch_job(self.site))
        gang = KubernetesGang(self.kubernetes.store, self.kubernetes.kubelets, self.site.namespace, self.site.job)
        checkpoints = S3Checkpoints(self.aws.client("s3", "training-job"), self.site.bucket, self.site.prefix)
        self.ranks = Ranks(self.room, beat_header(self.site))
        self.training = Training(
            gang,
            checkpoints,
            is_broken=self.room.stops_training,
            is_stuck=self.ranks.is_stuck,
            now=utc_now,
            tear=self._tear,
        )
        driver = JobDriver(self.training, gang, self.ranks, self.room, self.site, _TICK_SECONDS)
        self._stack.callback(driver.stop)
        driver.start()
        self.wait_for(lambda: self.training.step > 0, _READY_SECONDS, "the training job did not start")

    def wait_for(self, happened: Callable[[], object], seconds: float, otherwise: str, every: float = 0.05) -> None:
        """Return when *happened* is true; TookTooLongError with *otherwise* after so many real seconds."""
        deadline = time.monotonic() + seconds
        pause = threading.Event()
        while not happened():
            if time.monotonic() > deadline:
                raise TookTooLongError(f"{otherwise} within {seconds:.0f} s. The logs lie in {self.data_dir}.")
            pause.wait(every)

    def pause(self, seconds: float) -> None:
        """Let so many seconds of the cluster's own time pass: policies' waits pass as fast."""
        threading.Event().wait(seconds * self.time_scale)

    def wait_for_checkpoints(self, count: int, seconds: float = _READY_SECONDS) -> None:
        """Return when the job has saved so many whole checkpoints."""
        what = f"the job did not save {count} checkpoints"
        self.wait_for(lambda: len(self.training.record.saved) >= count, seconds, what)

    def wait_for_save_under_way(self, seconds: float = _READY_SECONDS) -> None:
        """Return when some files of a checkpoint are written and some are not."""
        self.wait_for(self._is_mid_save, seconds, "no save was under way", every=0.005)

    def _is_mid_save(self) -> bool:
        save = self.training.saving
        return save is not None and save.written > 0 and len(save.left) > 2  # noqa: PLR2004 - well before its end

    def wait_for_steps_between_saves(self, seconds: float = _READY_SECONDS) -> None:
        """Return when the job trains, with no save under way and some steps done since the last."""
        self.wait_for(self._is_between_saves, seconds, "the job did not train between two saves", every=0.005)

    def _is_between_saves(self) -> bool:
        training = self.training
        return training.is_running and training.saving is None and 5 <= training.step % 20 <= 15  # noqa: PLR2004 - of 20

    def instance_at(self, index: int) -> str:
        """The instance with this place in the fleet."""
        return list(self.room)[index].instance_id

    def break_gpu(self, index: int, *, gpu: int = 3, xid: int = 79) -> Fault:
        """Break one GPU of the node with this place in the fleet."""
        fault = self.fleet.break_gpu(list(self.room)[index].instance_id, gpu=gpu, xid=xid)
        self.faults.append(fault)
        return fault

    def break_another(self, xid: int) -> Fault | None:
        """Let a GPU of the first node that is well fail with this Xid; None when no node is."""
        well = (place for place, one in enumerate(self.room) if one.is_on and not one.broken_gpus)
        place = next(well, None)
        return None if place is None else self.break_gpu(place, xid=xid)

    def is_running(self) -> bool:
        """Whether the embedded AWS lives."""
        return self.aws.is_running()

    def environment(self) -> dict[str, str]:
        """The environment in which `relight` speaks to this world, and to no other."""
        return {**self.aws.environment(), "POLICIES_TABLE": self.outputs["PoliciesTable"]}

    def incidents(self) -> list[Incident]:
        """Every incident, oldest first."""
        return read_incidents(self.aws, self.outputs["IncidentsTable"])

    def wait_closed(self, seconds: float, count: int = 1) -> list[Incident]:
        """The incidents as soon as there are *count* and none is open."""
        found: list[Incident] = []

        def all_closed() -> bool:
            found[:] = self.incidents()
            return len(found) >= count and not any(incident.status.is_open for incident in found)

        self.wait_for(all_closed, seconds, f"{count} incident(s) did not close", every=0.25)
        return found


@contextlib.contextmanager
def local_cluster(data_dir: Path, time_scale: float = TIME_SCALE) -> Iterator[LocalCluster]:
    """A cluster whose job has saved two checkpoints: where most stories begin."""
    with LocalCluster(data_dir, time_scale=time_scale) as cluster:
        cluster.wait_for_checkpoints(2)
        yield cluster
