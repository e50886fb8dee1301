from pathlib import Path

import pytest

from agent.fabric.devices import efa_functions, read_devices
from agent.fabric.efa.counts import AT_MOST
from agent.fabric.efa.poll import EfaPresence, EfaTraffic
from agent.fabric.infiniband.poll import InfinibandPorts
from agent.polls.reading import NotHereError, Poll
from tests.tools.polling import bench, measure
from tests.tools.trees import lay_out, shapes

EFA = {"p4d": 4, "p5": 32, "p5en": 16, "p6-b200": 8, "p6e-gb200": 8}


@pytest.mark.parametrize(("shape", "count"), EFA.items())
def test_every_efa_device_is_found_by_its_address_and_nothing_else_of_amazon_is_one(
    tmp_path: Path, shape: str, count: int
) -> None:
    devices = read_devices(lay_out(shape, tmp_path))
    assert len({device.pci for device in devices if device.is_efa}) == len(devices) == count
    assert {device.pci for device in devices} == efa_functions(tmp_path)


@pytest.mark.parametrize("shape", EFA)
def test_no_shape_has_more_devices_than_its_type_may_have(tmp_path: Path, shape: str) -> None:
    (allowed,) = {count for name, count in AT_MOST.items() if name.startswith(f"{shape}.")}
    assert len(read_devices(lay_out(shape, tmp_path))) <= allowed


@pytest.mark.parametrize("shape", shapes())
def test_a_healthy_node_tells_nothing(tmp_path: Path, shape: str) -> None:
    lay_out(shape, tmp_path)
    polls: list[Poll] = [EfaPresence(tmp_path), EfaTraffic(tmp_path), InfinibandPorts(tmp_path)]
    for poll in polls:
        with bench() as work:
            try:
                assert [work.poll(poll, second) for second in range(0, 120, 15)] == [[]] * 8
            except NotHereError:
                continue


def test_efa_is_no_infiniband_and_infiniband_is_no_efa(tmp_path: Path) -> None:
    efa, infiniband = lay_out("p5", tmp_path / "p5"), lay_out("h100-infiniband", tmp_path / "h100")
    for poll in (InfinibandPorts(efa), EfaPresence(infiniband), EfaTraffic(infiniband)):
        with pytest.raises(NotHereError):
            measure(poll)


def test_links_lead_as_the_kernels_do(tmp_path: Path) -> None:
    lay_out("p5", tmp_path)
    device = tmp_path / "class/infiniband/rdmap79s0"
    assert str(device.readlink()) == "../../devices/pci0000:4f/0000:4f:00.0/infiniband/rdmap79s0"
    assert str((device / "device").readlink()) == "../../../0000:4f:00.0"
