"""The parts of a collection that read files, as topics of a prober: each may hang, and is then given up alone.

    python -P -m agent.prober.child states=agent.evidence.reading:Reading ...

An ask is ``{"part", "folder", "limit", ...}``, the answer ``{"files": [{"name", "bytes", "cut"}, {"name", "error"}]}``.
Decides nothing. It must not know order or deadlines. Standard library only.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent.evidence.bounded import BoundedFile
from agent.evidence.node_state import last_written, write_fabric, write_kernel_log, write_node
from agent.evidence.process_state import find_training, write_states
from agent.evidence.training_files import copy_dumps, copy_tails, write_beats

Json = dict[str, Any]


class Reading:
    """Answers asks, each in the thread of its part."""

    def __init__(self, push: Callable[[Any], None]) -> None:
        """Take what every topic takes; nothing is pushed."""
        del push

    def answer(self, ask: Json) -> Json:
        """Do one part."""
        return _PARTS[ask["part"]](ask, Path(ask["folder"]))


def _find(ask: Json, folder: Path) -> Json:
    del folder
    return {"pids": find_training(Path(ask["procfs"]))}


def _states(ask: Json, folder: Path) -> Json:
    return _one(folder, "processes.txt", ask, lambda out: write_states(out, Path(ask["procfs"]), ask["pids"]))


def _dumps(ask: Json, folder: Path) -> Json:
    proc = Path(ask["procfs"])
    processes = [proc / str(pid) for pid in ask["pids"]]
    return {"files": copy_dumps(folder, processes, ask["limit"], ask["each"], proc / "1")}


def _beats(ask: Json, folder: Path) -> Json:
    return {"files": write_beats(folder, Path(ask["beats"]), ask["limit"])}


def _logs(ask: Json, folder: Path) -> Json:
    return {"files": copy_tails(folder, last_written(ask["paths"], ask["at_most"]), ask["limit"], ask["each"])}


def _kernel(ask: Json, folder: Path) -> Json:
    log = Path(ask["kernel_log"])
    return _one(folder, "kernel.log", ask, lambda out: write_kernel_log(out, log, ask["limit"]))


def _node(ask: Json, folder: Path) -> Json:
    return _one(folder, "node.txt", ask, lambda out: write_node(out, Path(ask["procfs"])))


def _fabric(ask: Json, folder: Path) -> Json:
    return _one(folder, "fabric.txt", ask, lambda out: write_fabric(out, Path(ask["sysfs"])))


def _one(folder: Path, name: str, ask: Json, write: Callable[[BoundedFile], None]) -> Json:
    """Write one file under a hidden name, and give it its own when it is whole."""
    out = BoundedFile(folder / f".{name}", ask["limit"])
    try:
        write(out)
    finally:
        out.close()
        (folder / f".{name}").rename(folder / name)
    return {"files": [{"name": name, "bytes": out.size, "cut": out.cut}]}


_PARTS: dict[str, Callable[[Json, Path], Json]] = {
    "find": _find,
    "states": _states,
    "dumps": _dumps,
    "beats": _beats,
    "logs": _logs,
    "kernel": _kernel,
    "node": _node,
    "fabric": _fabric,
}
PARTS = tuple(_PARTS)
