"""Orbax: a whole-number folder with `_CHECKPOINT_METADATA` and its items.

On a file system a temporary folder is renamed; on an object store a rename is no commit, so `commit_success.txt` is
required there, and wherever the neighbours have one. Source: orbax/checkpoint/_src/path/atomicity.py.
"""

from collections.abc import Sequence

from policies.checkpoints.families import candidates, folders_like, lacking
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.whole_files import present, read_json

NAME = "orbax"
METADATA = "_CHECKPOINT_METADATA"
COMMIT = "commit_success.txt"


def find(tree: Tree) -> list[Candidate]:
    """Return the folders named by a number that hold Orbax's metadata or commit file, and those beside them."""
    recognised = [
        folder
        for folder in tree.folders()
        if tree.name_of(folder).partition(".")[0].isdigit() and {METADATA, COMMIT} & tree.direct(folder).keys()
    ]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, others: Sequence[Candidate]) -> Check:
    """Judge one step: committed, and with every item the neighbours have."""
    commit_needed = candidate.object_store or any(COMMIT in other.files for other in others)
    if commit_needed and COMMIT not in candidate.files:
        return f"{COMMIT} is missing: the save was not committed"
    described = yield from read_json(candidate.files, METADATA)
    if isinstance(described, str):
        return described
    if not described.get("commit_timestamp_nsecs"):
        return f"{METADATA} has no commit time: the save was not committed"
    named = described.get("item_handlers")
    items = sorted(named) if isinstance(named, dict) else []
    bare = [item for item in items if not any(path.startswith(f"{item}/") for path in candidate.files)]
    missing = bare + lacking(candidate, others, _is_fixed)
    if missing:
        return f"{missing[0]} is missing"
    return next(filter(None, (present(candidate.files, path) for path in candidate.files if _is_manifest(path))), "")


def _is_fixed(path: str) -> bool:
    """Whether *path* has the same name in every step; data files are named by their content."""
    return path.endswith((COMMIT, "/_METADATA", "/manifest.ocdbt"))


def _is_manifest(path: str) -> bool:
    return path.endswith(("/manifest.ocdbt", "/_METADATA"))


LAYOUT = Layout(NAME, find, check)
