"""NeMo 2: `<name>--<metric>=…-step=N…/` with `weights/` (a Megatron-Core unit) and `context/`.

A marker `<folder>-unfinished` stands beside it until the save is whole (nemo/lightning/pytorch/callbacks); the
families know that.
"""

from collections.abc import Sequence

from policies.checkpoints.families import candidates, folders_like
from policies.checkpoints.listing import Tree, join
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.torch_dcp import check_unit
from policies.checkpoints.whole_files import read_json, whole_archive

NAME = "nemo2"
WEIGHTS = "weights"


def find(tree: Tree) -> list[Candidate]:
    """Return the folders with ``step=`` in their name that hold `weights/`, and those spelled alike."""
    recognised = [
        folder
        for folder in tree.folders()
        if "step=" in tree.name_of(folder) and join(folder, WEIGHTS) in tree.children.get(folder, ())
    ]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, _others: Sequence[Candidate]) -> Check:
    """Judge one step by its weights folder."""
    described = yield from read_json(candidate.files, f"{WEIGHTS}/metadata.json")
    if isinstance(described, str):
        return described
    reason = yield from check_unit(candidate.files, WEIGHTS)
    return reason or (yield from whole_archive(candidate.files, f"{WEIGHTS}/common.pt"))


LAYOUT = Layout(NAME, find, check)
