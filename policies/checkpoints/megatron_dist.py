"""Megatron-Core distributed checkpoint: `iter_%07d/` with `metadata.json`, `common.pt` and a DCP unit.

`latest_checkpointed_iteration.txt` is a hint only: it may be empty, behind or ahead.
Source: megatron/core/dist_checkpointing/{core,serialization}.py.
"""

from collections.abc import Sequence

from policies.checkpoints.families import candidates, folders_like
from policies.checkpoints.listing import Tree, parent_of
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.torch_dcp import check_unit
from policies.checkpoints.whole_files import read_json, whole_archive

NAME = "megatron_dist"
TRACKER = "latest_checkpointed_iteration.txt"
_BACKENDS = frozenset({"torch_dist", "fsdp_dtensor"})


def find(tree: Tree) -> list[Candidate]:
    """Return the iter_ folders beside a tracker file or with Megatron's own metadata.json."""
    recognised = [folder for folder in tree.folders() if _is_iteration(tree, folder)]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, _others: Sequence[Candidate]) -> Check:
    """Judge one iteration."""
    described = yield from read_json(candidate.files, "metadata.json")
    if isinstance(described, str):
        return described
    backend = described.get("sharded_backend")
    if backend not in _BACKENDS:
        return f"metadata.json names the backend {str(backend)[:40]!r}, of which nothing is known"
    reason = yield from check_unit(candidate.files, "")
    if reason or backend != "torch_dist":
        return reason
    return (yield from whole_archive(candidate.files, "common.pt"))


def _is_iteration(tree: Tree, folder: str) -> bool:
    if not tree.name_of(folder).startswith("iter_"):
        return False
    return "metadata.json" in tree.direct(folder) or TRACKER in tree.direct(parent_of(folder))


LAYOUT = Layout(NAME, find, check)
