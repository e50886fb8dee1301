"""Resetting GPUs, with an nvidia-smi of our own that says what the real one does."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.commands.doing import Errand
from agent.commands.doings.reset_gpu import ResetsGpu
from policies.contract.commands.operations import ResetGpu
from tests.tools.node_programs import Programs
from tests.tools.process_tree import ProcessTree

GPU, OTHER = "0000:4b:00", "0000:5d:00"
MakeErrand = Callable[..., Errand]
WELL = """case "$*" in
*--gpu-reset*) echo "GPU 00000000:4B:00.0 was successfully reset."; echo "All done." ;;
*-i*) echo "00000000:4B:00.0" ;;
*) printf '00000000:4B:00.0\\n00000000:5D:00.0\\n' ;;
esac"""
IN_USE = """echo "GPU Reset couldn't run because GPU 00000000:4B:00.0 is the primary GPU."; exit 6"""


class Rest:
    def __init__(self) -> None:
        self.now = False
        self.times = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.now, self.times = True, self.times + 1
        yield
        self.now = False


@pytest.fixture
def tree(tmp_path: Path) -> ProcessTree:
    return ProcessTree(tmp_path / "proc", {GPU: 2, OTHER: 3})


@pytest.fixture
def doing(tree: ProcessTree) -> ResetsGpu:
    return ResetsGpu(tree.path, Rest())


def test_one_gpu_is_reset_and_asked_whether_it_answers(
    doing: ResetsGpu, programs: Programs, errand: MakeErrand
) -> None:
    programs.add("nvidia-smi", WELL)
    outcome = doing.run(ResetGpu(gpus=(GPU,)), errand())
    assert (outcome.ok, outcome.facts) == (True, {"gpus": 1})
    assert programs.calls() == [
        "nvidia-smi --gpu-reset -i 0000:4b:00.0",
        "nvidia-smi -i 0000:4b:00.0 --query-gpu=pci.bus_id --format=csv,noheader",
    ]
    assert "successfully reset" in outcome.output


def test_all_gpus_are_reset_in_one_command(doing: ResetsGpu, programs: Programs, errand: MakeErrand) -> None:
    programs.add("nvidia-smi", WELL)
    outcome = doing.run(ResetGpu(), errand())
    assert (outcome.ok, outcome.facts) == (True, {"gpus": 2})
    assert programs.calls()[0] == "nvidia-smi --gpu-reset"


def test_the_agent_itself_holds_no_gpu_meanwhile(tree: ProcessTree, programs: Programs, errand: MakeErrand) -> None:
    programs.add("nvidia-smi", WELL)
    rest = Rest()
    ResetsGpu(tree.path, rest).run(ResetGpu(gpus=(GPU,)), errand())
    assert (rest.times, rest.now) == (1, False)


def test_a_refusal_of_nvidia_smi_is_told_in_its_words(doing: ResetsGpu, programs: Programs, errand: MakeErrand) -> None:
    programs.add("nvidia-smi", IN_USE)
    outcome = doing.run(ResetGpu(gpus=(GPU,)), errand())
    assert not outcome.ok
    assert outcome.reason == (
        "nvidia-smi ended with status 6: GPU Reset couldn't run because GPU 00000000:4B:00.0 is the primary GPU."
    )


def test_a_reset_after_which_the_gpu_does_not_answer_has_failed(
    doing: ResetsGpu, programs: Programs, errand: MakeErrand
) -> None:
    programs.add("nvidia-smi", 'case "$*" in *--gpu-reset*) echo ok;; *) echo "No devices were found"; exit 6;; esac')
    outcome = doing.run(ResetGpu(gpus=(GPU,)), errand())
    assert not outcome.ok
    assert outcome.reason.startswith("it was reset, and does not answer: nvidia-smi ended with status 6")


def test_a_gpu_that_another_one_answers_for_has_not_answered(
    doing: ResetsGpu, programs: Programs, errand: MakeErrand
) -> None:
    programs.add("nvidia-smi", WELL)
    outcome = doing.run(ResetGpu(gpus=(GPU, OTHER)), errand())
    assert not outcome.ok
    assert OTHER in outcome.reason


def test_a_reset_that_hangs_ends_with_its_deadline(doing: ResetsGpu, programs: Programs, errand: MakeErrand) -> None:
    programs.add("nvidia-smi", "exec sleep 60")
    outcome = doing.run(ResetGpu(gpus=(GPU,)), errand(0.5))
    assert not outcome.ok
    assert "did not end within" in outcome.reason


def test_without_nvidia_smi_that_is_said(doing: ResetsGpu, monkeypatch: pytest.MonkeyPatch, errand: MakeErrand) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    outcome = doing.run(ResetGpu(gpus=(GPU,)), errand())
    assert outcome.reason == "nvidia-smi cannot be run (No such file or directory)"


def test_a_gpu_that_a_process_holds_is_not_reset(doing: ResetsGpu, tree: ProcessTree) -> None:
    tree.add(4711, "python3", "/dev/nvidia2", "/dev/nvidiactl")
    why = doing.why_not(ResetGpu(gpus=(GPU,)))
    assert why == "1 processes hold the GPU: python3 (4711); end or suspend the job first"
    assert doing.why_not(ResetGpu(gpus=(OTHER,))) == ""
    assert "4711" in doing.why_not(ResetGpu())


def test_monitors_do_not_count_as_holders(doing: ResetsGpu, tree: ProcessTree) -> None:
    for pid, name in ((50, "nvidia-persiste"), (51, "nv-hostengine"), (52, "nv-fabricmanage")):
        tree.add(pid, name, "/dev/nvidia2")
    assert doing.why_not(ResetGpu(gpus=(GPU,))) == ""


def test_after_a_crash_nobody_can_tell_and_after_a_reboot_it_was_reset(
    doing: ResetsGpu, programs: Programs, errand: MakeErrand
) -> None:
    programs.add("nvidia-smi", WELL)
    assert not doing.look_back(ResetGpu(gpus=(GPU,)), errand()).ok
    assert doing.look_back(ResetGpu(gpus=(GPU,)), errand(rebooted=True)).ok
    assert [call for call in programs.calls() if "--gpu-reset" in call] == []
