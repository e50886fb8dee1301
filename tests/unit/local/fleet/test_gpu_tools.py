"""The simulated node's nvidia-smi, called as the agent calls it."""

import subprocess
from pathlib import Path

from local.fleet.gpu_tools import GpuTools
from local.fleet.kernel_log import pci_of


def called(tools: GpuTools, *words: str) -> str:
    command = [str(tools.programs / "nvidia-smi"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_reset_is_told_to_the_machine_once(tmp_path: Path) -> None:
    tools = GpuTools(tmp_path)
    tools.install()
    assert tools.new_resets() == []
    said = called(tools, "--gpu-reset", "-i", f"{pci_of(3)}.0,{pci_of(5)}.0")
    assert f"GPU 0000{pci_of(3)}.0 was successfully reset." in said
    assert tools.new_resets() == [3, 5]
    assert tools.new_resets() == []


def test_a_question_resets_nothing(tmp_path: Path) -> None:
    tools = GpuTools(tmp_path)
    tools.install()
    said = called(tools, "-i", f"{pci_of(3)}.0", "--query-gpu=pci.bus_id", "--format=csv,noheader")
    assert said == f"0000{pci_of(3)}.0\n"
    assert len(called(tools, "--query-gpu=pci.bus_id", "--format=csv,noheader").split()) == 8
    assert tools.new_resets() == []
