"""Who holds a GPU, by /proc."""

import os
from pathlib import Path

import pytest

from agent.commands.holders import holders, minors_of
from tests.tools.process_tree import ProcessTree

GPU, OTHER = "0000:4b:00", "0000:5d:00"


@pytest.fixture
def tree(tmp_path: Path) -> ProcessTree:
    tree = ProcessTree(tmp_path / "proc", {GPU: 2, OTHER: 3})
    tree.add(100, "python3", "/dev/nvidia2", "/dev/nvidiactl", "/dev/nvidia-uvm")
    tree.add(101, "python3", "/dev/nvidia3")
    tree.add(102, "bash", "/dev/pts/0", "/dev/nvidiactl")
    return tree


def test_a_gpu_is_found_by_its_minor_number(tree: ProcessTree) -> None:
    assert minors_of(tree.path, [GPU]) == {2}
    assert [one.pid for one in holders(tree.path, [GPU])] == [100]
    assert [one.pid for one in holders(tree.path, [GPU, OTHER])] == [100, 101]
    assert [one.pid for one in holders(tree.path)] == [100, 101]


def test_a_gpu_of_eight_digits_is_the_same_one(tree: ProcessTree) -> None:
    assert minors_of(tree.path, ["00000000:4b:00"]) == {2}


def test_where_a_gpus_number_is_not_known_every_holder_counts(tree: ProcessTree) -> None:
    assert minors_of(tree.path, [GPU, "0000:ff:00"]) == frozenset()
    assert [one.pid for one in holders(tree.path, ["0000:ff:00"])] == [100, 101]


def test_this_process_and_its_children_are_not_told(tree: ProcessTree) -> None:
    tree.add(os.getpid(), "python3", "/dev/nvidia2")
    assert [one.pid for one in holders(tree.path, [GPU])] == [100]


def test_where_there_is_no_proc_nobody_is_found(tmp_path: Path) -> None:
    assert holders(tmp_path / "none", [GPU]) == []
