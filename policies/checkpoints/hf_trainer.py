"""Hugging Face Trainer: `checkpoint-N/` with `trainer_state.json`, weights, optimizer, scheduler and rng states.

Complete when the state file tells the folder's step and all four are whole; with DeepSpeed or sharded FSDP weights and
optimizer are folders of those layouts. Source: transformers/trainer.py, `_save_checkpoint`.
"""

import re
from collections.abc import Mapping, Sequence

from policies.checkpoints.families import candidates, folders_like, lacking
from policies.checkpoints.listing import Entry, Tree, parent_of
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.torch_dcp import check_unit
from policies.checkpoints.whole_files import indexed_safetensors, read_json, whole_archive, whole_safetensors

NAME = "hf_trainer"
STATE = "trainer_state.json"
_FOLDER = re.compile(r"^(?:tmp-)?checkpoint-\d+$")
_OWN = re.compile(
    r"^(?:trainer_state\.json|training_args\.bin|optimizer\.(?:pt|bin)|scheduler\.pt|rng_state(?:_\d+)?\.pth)$"
)
_ARCHIVES = re.compile(r"^(?:optimizer\.(?:pt|bin)|scheduler\.pt|rng_state(?:_\d+)?\.pth|.*_states\.pt)$")
_INDEXES = ("model.safetensors.index.json", "pytorch_model.bin.index.json")
_SINGLE = ("model.safetensors", "adapter_model.safetensors", "pytorch_model.bin", "adapter_model.bin")


def find(tree: Tree) -> list[Candidate]:
    """Return the checkpoint-N folders that hold the Trainer's own files, and those beside them."""
    recognised = [
        folder
        for folder in tree.folders()
        if _FOLDER.match(tree.name_of(folder)) and any(map(_OWN.match, tree.direct(folder)))
    ]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, others: Sequence[Candidate]) -> Check:
    """Judge one step: state, neighbours' files, weights, then every archive."""
    state = yield from read_json(candidate.files, STATE)
    if isinstance(state, str):
        return state
    if state.get("global_step") != candidate.step:
        return f"{STATE} tells step {str(state.get('global_step'))[:20]}, not the folder's"
    missing = lacking(candidate, others, lambda name: bool(_ARCHIVES.match(name)))
    if missing or not _has_optimizer(candidate.files):
        return f"{missing[0] if missing else 'the optimizer state'} is missing"
    reason = yield from _weights(candidate.files)
    for name in sorted(filter(_ARCHIVES.match, candidate.files)):
        reason = reason or (yield from whole_archive(candidate.files, name))
    return reason


def _has_optimizer(files: Mapping[str, Entry]) -> bool:
    return any(name.startswith(("optimizer", "global_step")) for name in files)


def _weights(files: Mapping[str, Entry]) -> Check:
    units = sorted({parent_of(name) for name in files if name.endswith(("/.metadata", ".distcp"))})
    for unit in units:
        reason = yield from check_unit(files, unit)
        if reason:
            return f"{unit}: {reason}"
    for index in _INDEXES:
        if index in files:
            return (yield from indexed_safetensors(files, index))
    for name in _SINGLE:
        if name in files:
            return (yield from (whole_safetensors if name.endswith(".safetensors") else whole_archive)(files, name))
    return "" if units or any(name.startswith("global_step") for name in files) else "the weights are missing"


LAYOUT = Layout(NAME, find, check)
