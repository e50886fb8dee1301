from typing import Any

import pytest

from agent.gpu.judges.fabric import decode
from agent.gpu.nvml.snapshot import GPU_IS_LOST, Fabric, Gpu, Link
from agent.polls.reading import Happened
from policies.contract.vocabulary import ComponentType, Kind
from tests.tools.nvml.gpus import LINKS, Node, eight, gpu, kinds, links
from tests.tools.polling import bench


def with_links(*changed: Link, **changes: Any) -> Gpu:  # noqa: ANN401 - any field
    return gpu(0, {"links": links(*changed)}, **changes)


def test_an_inactive_link_is_down_and_named() -> None:
    [fault] = Node().faults(eight(with_links(Link(7, active=False))))
    part = fault.sighting.component
    assert fault.sighting.kind == Kind.NVLINK_DOWN
    assert part is not None
    assert (part.type, part.link, part.index) == (ComponentType.NVLINK, 7, 0)


def test_a_card_without_links_has_none_down() -> None:
    node = Node()
    assert node.faults([gpu(index, {"links": (), "fabric": None}) for index in range(8)]) == []


def test_cards_whose_bridges_are_empty_have_no_link_down() -> None:
    empty = tuple(Link(number, active=False) for number in range(12))
    assert Node().faults([gpu(index, {"links": empty}) for index in range(8)]) == []


def test_all_links_of_one_gpu_are_one_fault_of_that_gpu() -> None:
    dark = gpu(0, {"links": tuple(Link(number, active=False) for number in range(18))})
    [fault] = Node().faults(eight(dark))
    assert fault.sighting.component is not None
    assert fault.sighting.component.link is None
    assert fault.sighting.attributes["count"] == 18


def test_links_that_were_up_are_down_even_if_all_of_them_are() -> None:
    node = Node()
    node.look(eight())
    dark = tuple(Link(number, active=False) for number in range(18))
    assert len(node.faults([gpu(index, {"links": dark}) for index in range(8)], 10)) == 8


def test_mig_switches_links_off() -> None:
    assert kinds(Node().look(eight(with_links(Link(7, active=False), mig=True)))) == []


def test_a_link_is_not_called_well_because_its_gpu_is_lost() -> None:
    with bench() as work:
        node, told = Node(), []
        for second in range(0, 30, 10):
            told += work.take(node.look(eight(with_links(Link(7, active=False))), second), second)
        assert [event["kind"] for event in told] == ["nvlink.down"]
        whole = gpu(0)
        gone = Gpu(0, whole.uuid, whole.pci, whole.serial, error=GPU_IS_LOST)
        for second in range(30, 150, 10):
            told += work.take(node.look(eight(gone), second), second)
        assert [event["kind"] for event in told] == ["nvlink.down", "gpu.lost"]
        for second in range(150, 250, 10):
            told += work.take(node.look(eight(), second), second)
        assert [event["kind"] for event in told][2:] == ["condition.cleared"] * 2


def test_errors_count_by_their_increase() -> None:
    node = Node()
    assert node.faults(eight(with_links(Link(3, active=True, replays=900, recoveries=4, crc=10**6)))) == []
    risen = Link(3, active=True, replays=901, recoveries=6, crc=10**6)
    faults = node.faults(eight(with_links(risen)), 10)
    assert [(one.sighting.attributes["reason"], one.count) for one in faults if isinstance(one, Happened)] == [
        ("replay", 1),
        ("recovery", 2),
    ]
    assert node.faults(eight(with_links(risen)), 20) == []


@pytest.mark.parametrize(("crc", "told"), [(999, 0), (1001, 1)])
def test_crc_errors_matter_from_a_hundred_a_second_on(crc: int, told: int) -> None:
    node = Node()
    node.look(eight())
    assert len(node.faults(eight(with_links(Link(3, active=True, replays=0, recoveries=0, crc=crc))), 10)) == told


def test_errors_on_many_links_are_one_of_the_gpu() -> None:
    node = Node()
    node.look(eight())
    bad = tuple(Link(link.number, active=True, replays=2, recoveries=0, crc=0) for link in LINKS)
    [fault] = node.faults(eight(gpu(0, {"links": bad})), 10)
    assert isinstance(fault, Happened)
    assert fault.count == 36
    assert fault.sighting.component is not None
    assert fault.sighting.component.link is None


@pytest.mark.parametrize(
    ("mask", "matter"),
    [
        (0x0, set()),
        (0xAA, set()),
        (0x80, set()),
        (0x10, {"route_unhealthy"}),
        (0x1, {"degraded_bandwidth"}),
        (0xA6, {"route_recovery"}),
        (0x6A, {"access_timeout_recovery"}),
        (0x1AA, set()),
        (0x5AA, {"too_few_nvlinks"}),
        (0x19AA, set()),
    ],
)
def test_the_health_mask_packs_fields_and_only_what_is_true_is_a_fault(mask: int, matter: set[str]) -> None:
    assert set(decode(mask)) == matter
    node = Node()
    faults = node.faults(eight(gpu(0, {"fabric": Fabric(3, 0, mask)})))
    assert {one.sighting.attributes["reason"] for one in faults} == matter


@pytest.mark.parametrize(
    ("fabric", "reason"),
    [
        (Fabric(0, 0, 0x55), None),
        (None, None),
        (Fabric(1, 0, 0), "not_registered"),
        (Fabric(2, 0, 0), "not_registered"),
        (Fabric(3, 999, 0), "registration_failed"),
    ],
)
def test_a_gpu_has_to_be_registered_where_there_is_a_fabric(fabric: Fabric | None, reason: str | None) -> None:
    faults = Node().faults(eight(gpu(0, {"fabric": fabric})))
    assert [one.sighting.attributes["reason"] for one in faults] == ([reason] if reason else [])
    assert {one.sighting.kind for one in faults} <= {Kind.FABRIC_MANAGER_ERROR}


def test_a_link_whose_state_cannot_be_read_is_neither_down_nor_well() -> None:
    with bench() as work:
        node = Node()

        def told(active: bool | None, *seconds: int) -> list[str]:
            gpus = eight(with_links(Link(7, active=active)))
            return [event["kind"] for second in seconds for event in work.take(node.look(gpus, second), second)]

        assert told(None, *range(0, 60, 10)) == []
        assert told(False, *range(60, 90, 10)) == ["nvlink.down"]
        assert told(None, *range(90, 190, 10)) == []
        assert told(True, *range(190, 240, 10)) == ["condition.cleared"]
