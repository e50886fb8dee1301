"""Weights alone, as safetensors, in a folder whose name tells the step. Nothing resumes from them if there is better.

Complete when each file has the size its header tells, and every file of the index is there.
"""

from collections.abc import Sequence

from policies.checkpoints.families import candidates, folders_like
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.whole_files import indexed_safetensors, whole_safetensors

NAME = "safetensors"
_SUFFIX = ".safetensors"
_INDEX = ".safetensors.index.json"


def find(tree: Tree) -> list[Candidate]:
    """Return the folders with safetensors in them, and those beside them that are spelled alike."""
    recognised = [folder for folder in tree.folders() if any(map(_is_weights, tree.direct(folder)))]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, _others: Sequence[Candidate]) -> Check:
    """Judge one folder."""
    names = sorted(filter(_is_weights, candidate.files))
    if not names:
        return "no safetensors file is there"
    parts = any("-of-" in name for name in names)
    if parts and not any(name.endswith(_INDEX) for name in names):
        return "the index of its parts is missing"
    for name in names:
        reason = yield from (whole_safetensors if name.endswith(_SUFFIX) else indexed_safetensors)(
            candidate.files, name
        )
        if reason:
            return reason
    return ""


def _is_weights(name: str) -> bool:
    return name.endswith((_SUFFIX, _INDEX))


LAYOUT = Layout(NAME, find, check, resumable=False)
