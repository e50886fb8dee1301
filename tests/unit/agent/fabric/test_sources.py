import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from agent.events import EventMaker
from agent.fabric.efa.attached import efa_only_interfaces
from agent.fabric.sources import attached_interfaces, sources
from agent.main import utc_now
from agent.polls.reading import Poll
from agent.polls.source import Pace, PollSource, since_boot
from agent.settings import Settings
from agent.spool.spool import Spool
from agent.vitals import Vitals
from agent.wiring import Run, Wiring
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Kind, Source
from tests.tools.polling import bench
from tests.tools.sources import NODE, eventually, started, waiting
from tests.tools.trees import lay_out, remove_device

P5 = NODE.model_copy(update={"instance_type": "p5.48xlarge"})
ENA = "device-number\nlocal-hostname\nlocal-ipv4s\nmac\n"
EFA_ONLY = "device-number\ninterface-id\nmac\nnetwork-card\n"


@dataclass(frozen=True)
class _Wiring:
    """As much of a wiring as this folder asks for."""

    settings: Settings
    spool: Spool
    vitals: Vitals
    node: NodeIdentity

    def poll(
        self,
        name: str,
        poll: Poll,
        source: Source,
        *,
        every: float,
        deadline: float = 10.0,
        provokes: Iterable[Kind] = (),
    ) -> Run:
        maker = EventMaker(self.node, source, lambda _seen: None)
        pace = Pace(every, deadline)
        return PollSource(name, poll, self.spool, maker, pace=pace, vitals=self.vitals, clock=utc_now).run


def wired(sysfs: Path, spool: Spool, vitals: Vitals) -> dict[str, Run]:
    settings = Settings(cluster="c", stream="s", sysfs=sysfs, instance_id="i-1")
    return sources(cast("Wiring", _Wiring(settings, spool, vitals, P5)))


def test_a_device_that_is_taken_away_from_a_running_agent_is_told(tmp_path: Path) -> None:
    lay_out("p5", tmp_path)
    with bench() as work:
        vitals, stop = Vitals(since_boot), threading.Event()
        thread = started(wired(tmp_path, work.spool, vitals)["efa"], stop)
        eventually(lambda: any(one.measured_at for one in vitals.all()))
        remove_device(tmp_path, "rdmap96s0")
        eventually(lambda: bool(waiting(work.spool)))
        stop.set()
        thread.join(60)
        (event,) = waiting(work.spool)
    assert (event["kind"], event["source"], event["attributes"]["device"]) == (
        "network.efa_missing",
        "efa",
        "rdmap96s0",
    )


def test_each_source_has_a_name_of_its_own(tmp_path: Path) -> None:
    with bench() as work:
        assert sorted(wired(tmp_path, work.spool, Vitals(since_boot))) == ["efa", "efa_counters", "imex", "infiniband"]


def test_interfaces_without_an_address_are_for_efa_only() -> None:
    macs = {"02:aa/": ENA, "02:ab/": EFA_ONLY, "02:ac/": EFA_ONLY}
    paths = {"network/interfaces/macs/": "\n".join(macs)} | {
        f"network/interfaces/macs/{mac}": fields for mac, fields in macs.items()
    }
    assert efa_only_interfaces(paths.__getitem__) == 2


def test_a_metadata_service_that_does_not_answer_says_nothing() -> None:
    def silent(_path: str) -> str:
        raise DependencyError("no answer", hint="wait")

    assert efa_only_interfaces(silent) is None


def test_where_the_settings_say_who_this_is_nobody_is_asked() -> None:
    assert attached_interfaces(Settings(cluster="c", stream="s", instance_id="i-1"))() is None
