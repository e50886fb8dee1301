import ctypes
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.gpu.nvml import lean
from agent.gpu.nvml.library import CALLS, CONSTANTS, STRUCTURES

SOURCE = '''"""Doc."""
from ctypes import *
from ctypes.util import find_library
from functools import partial
A = 1
B = A + 1
NVML_ERROR_X = 7
lost = 3

def wraps(f):
    return f

# a word on what follows
@wraps
def helper(
    first,
):
    return B

class Kept(Structure):
    _fields_ = [
        ("x", c_uint),
    ]
class Dropped(Structure):
    pass

def call():
    return partial(helper, Kept())()
def other():
    return lost
'''


def test_what_a_wanted_name_needs_is_kept_and_the_rest_is_not() -> None:
    text = lean.kept(SOURCE, ["call"])
    for kept in (
        "from ctypes import *",
        "A = 1",
        "B = A + 1",
        "NVML_ERROR_X = 7",
        "class Kept",
        "@wraps\ndef helper(",
        "import partial",
    ):
        assert kept in text
    for dropped in ("lost = 3", "class Dropped", "def other", "find_library"):
        assert dropped not in text
    names: dict[str, object] = {}
    exec(text, names)
    call = names["call"]
    assert callable(call)


def test_of_the_real_module_a_small_part_is_taken_and_it_is_the_same() -> None:
    spec = find_spec("pynvml")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text(encoding="utf-8")
    wanted = [*CALLS, *STRUCTURES, *CONSTANTS]
    assert len(lean.kept(source, wanted)) < len(source) / 5
    script = (
        "import ctypes, importlib, sys\n"
        "from agent.gpu.nvml import lean, library\n"
        "cut = library.nvml\n"
        "assert not hasattr(cut, 'nvmlDeviceSetPowerManagementLimit')\n"
        "del sys.modules['pynvml']\n"
        "whole = importlib.import_module('pynvml')\n"
        "for name in library.STRUCTURES:\n"
        "    assert ctypes.sizeof(getattr(cut, name)) == ctypes.sizeof(getattr(whole, name)), name\n"
        "for name in library.CALLS:\n"
        "    assert getattr(cut, name).__code__.co_code == getattr(whole, name).__code__.co_code, name\n"
        "errors = [name for name in vars(whole) if name.startswith('NVMLError_')]\n"
        "assert errors and all(hasattr(cut, name) for name in errors)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60, cwd=Path(__file__).parents[5])


def test_a_module_that_cannot_be_cut_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", sys.modules.get("pynvml"))
    monkeypatch.setattr(lean, "kept", lambda *_: "def broken(:")
    whole = lean.load(["nvmlInit"])
    assert hasattr(whole, "nvmlDeviceSetPowerManagementLimit")
    assert ctypes.sizeof(whole.c_nvmlFieldValue_t) == 40


def test_a_name_that_it_does_not_have_takes_it_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", sys.modules.get("pynvml"))
    assert hasattr(lean.load(["nvmlNoSuchCall"]), "nvmlDeviceSetPowerManagementLimit")
