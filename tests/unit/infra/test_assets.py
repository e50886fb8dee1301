"""The layer is refused before anything is uploaded when it is not there or for another processor."""

from pathlib import Path

import pytest
from aws_cdk import App, Stack

from infra.assets import layer
from infra.elf import MAGIC
from infra.settings import DeploymentError


@pytest.fixture
def stack(tmp_path: Path) -> Stack:
    return Stack(App(outdir=str(tmp_path / "out")), "Test")


def test_a_missing_layer_says_how_to_make_or_leave_it(stack: Stack, tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match=r"make layer.*layer=none"):
        layer(stack, tmp_path / "none")


@pytest.mark.parametrize(("machine", "told"), [(183, ""), (62, r"python/thing\.so: x86-64")])
def test_every_shared_object_must_be_built_for_arm(stack: Stack, tmp_path: Path, machine: int, told: str) -> None:
    path = tmp_path / "layer" / "python" / "thing.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(MAGIC + b"\x02\x01" + bytes(12) + machine.to_bytes(2, "little") + bytes(40))
    if told:
        with pytest.raises(DeploymentError, match=told):
            layer(stack, tmp_path / "layer")
        return
    made = layer(stack, tmp_path / "layer")
    assert [it.name for it in made.compatible_runtimes or []] == ["python3.14"]
