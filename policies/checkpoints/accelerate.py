"""Accelerate's save_state: `checkpoint_<i>/`, where i counts saves, not steps.

Complete when model, optimizer and `random_states_<rank>.pkl` of every rank are whole; there is no commit marker.
Source: accelerate/checkpointing.py, `save_accelerator_state`.
"""

import re
from collections.abc import Mapping, Sequence

from policies.checkpoints.families import candidates, folders_like, lacking
from policies.checkpoints.listing import Entry, Tree
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.whole_files import indexed_safetensors, present, whole_archive, whole_safetensors

NAME = "accelerate"
_RANDOM = re.compile(r"^random_states_(\d+)\.pkl$")
_ARCHIVES = re.compile(
    r"^(?:optimizer|scheduler|sampler|dl_state_dict|scaler)(?:_\d+)?\.(?:bin|pt)$|^random_states_\d+\.pkl$"
)
_MODEL = re.compile(r"^(?:model|pytorch_model)(?:_\d+)?\.(?:safetensors|bin)$")
_INDEX = re.compile(r"^(?:model|pytorch_model)(?:_\d+)?\.(?:safetensors|bin)\.index\.json$")


def find(tree: Tree) -> list[Candidate]:
    """Return the folders with random states, and those beside them that are spelled alike."""
    recognised = [
        folder
        for folder in tree.folders()
        if tree.name_of(folder).startswith("checkpoint_") and any(map(_RANDOM.match, tree.direct(folder)))
    ]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, others: Sequence[Candidate]) -> Check:
    """Judge one save."""
    missing = _gap(candidate.files) or next(iter(lacking(candidate, others, lambda name: "/" not in name)), "")
    if missing:
        return f"{missing} is missing"
    for name in sorted(candidate.files):
        reason = yield from _judge(candidate.files, name)
        if reason:
            return reason
    return ""


def _judge(files: Mapping[str, Entry], name: str) -> Check:
    if _INDEX.match(name):
        return (yield from indexed_safetensors(files, name))
    if _MODEL.match(name):
        return (yield from (whole_safetensors if name.endswith(".safetensors") else whole_archive)(files, name))
    return (yield from whole_archive(files, name)) if _ARCHIVES.match(name) else present(files, name)


def _gap(files: Mapping[str, Entry]) -> str:
    if not any(_MODEL.match(name) or _INDEX.match(name) for name in files):
        return "the model"
    if not any(name.startswith("optimizer") for name in files):
        return "the optimizer"
    ranks = {int(found[1]) for found in map(_RANDOM.match, files) if found}
    holes = sorted(set(range(1 + max(ranks, default=0))) - ranks)
    return f"random_states_{holes[0]}.pkl" if holes else ""


LAYOUT = Layout(NAME, find, check, counts_steps=False)
