"""torch distributed checkpoint (DCP), and torchtitan's: `step-N/.metadata` and `step-N/__<rank>_<file>.distcp`.

Complete when `.metadata` can be read and every shard is at least as long as it says. `.metadata` is written last, by
rank 0, as `.metadata.tmp` and then renamed (torch/distributed/checkpoint/filesystem.py, `finish`), but a mirror to S3
keeps no order, so both are looked at. A step may hold several such units (`model/`, `optimizer/`): all must be whole.
"""

from collections.abc import Iterator, Mapping, Sequence

from policies.checkpoints.dcp_metadata import METADATA_LIMIT_BYTES, required_lengths
from policies.checkpoints.families import candidates, folders_like, lacking, step_folder
from policies.checkpoints.listing import UPLOADING, Entry, Tree, basename, parent_of
from policies.checkpoints.model import Candidate, Check, Layout, Read
from policies.contract.errors import BadInputError

NAME = "torch_dcp"
METADATA = ".metadata"
_TOGETHER = frozenset(
    {"meta.pt", "common.pt", "train_state.pt"}
)  # what a trainer saves beside the shards (Fabric, torchtune)


def find(tree: Tree) -> list[Candidate]:
    """Return the step folders that hold a unit, and those beside them that are spelled alike."""
    steps = (step_folder(tree, folder) for folder in tree.folders() if any(map(_is_of_unit, tree.direct(folder))))
    return candidates(NAME, tree, folders_like(tree, [step for step in dict.fromkeys(steps) if step is not None]))


def check(candidate: Candidate, others: Sequence[Candidate]) -> Check:
    """Judge one step: its units, and what its neighbours have beside them."""
    units = sorted({parent_of(path) for path in candidate.files if _is_of_unit(basename(path))})
    if not units:
        return "missing .metadata, and no shard either: nothing was saved here yet"
    missing = lacking(candidate, others, lambda path: basename(path) == METADATA and bool(parent_of(path)))
    missing += lacking(candidate, others, lambda path: path in _TOGETHER)
    for unit in units:
        reason = yield from check_unit(candidate.files, unit)
        if reason:
            return f"{unit}: {reason}" if unit else reason
    return f"{missing[0]} is missing, which other steps have" if missing else ""


def check_unit(files: Mapping[str, Entry], unit: str) -> Check:
    """Judge the `.metadata` and the shards in the folder *unit* of *files* (``""`` for *files* itself)."""
    inside = {path.removeprefix(f"{unit}/"): entry for path, entry in files.items()} if unit else files
    metadata = inside.get(METADATA)
    if metadata is None:
        return _why_no_metadata(inside)
    if not 0 < metadata.size <= METADATA_LIMIT_BYTES:
        return f".metadata has {metadata.size} bytes; one of 1 to {METADATA_LIMIT_BYTES} can be read"
    pickled = yield Read(metadata, 0, metadata.size)
    if len(pickled) != metadata.size:
        return ".metadata changed while it was read"
    try:
        needed = required_lengths(pickled)
    except BadInputError as error:
        return f"truncated or foreign .metadata: {error.message}"
    return _first_of(list(_short_shards(inside, needed)))


def _is_of_unit(name: str) -> bool:
    whole = name.removesuffix(UPLOADING).removesuffix(".tmp")
    return whole == METADATA or whole.endswith(".distcp")


def _why_no_metadata(inside: Mapping[str, Entry]) -> str:
    if METADATA + UPLOADING in inside:
        return "missing .metadata: it is still being uploaded"
    if f"{METADATA}.tmp" in inside:
        return "missing .metadata: there is only .metadata.tmp, the save did not finish"
    return "missing .metadata: the save did not finish"


def _short_shards(inside: Mapping[str, Entry], needed: Mapping[str, int]) -> Iterator[str]:
    for path, length in sorted(needed.items()):
        shard = inside.get(path)
        if shard is None:
            uploading = ", it is still being uploaded" if path + UPLOADING in inside else ""
            yield f"shard {path} is missing: needs {length} bytes{uploading}"
        elif shard.size < length:
            yield f"shard {path} is short: has {shard.size} bytes, needs {length}"


def _first_of(reasons: list[str]) -> str:
    if not reasons:
        return ""
    return reasons[0] + (f" (and {len(reasons) - 1} more shards)" if len(reasons) > 1 else "")


LAYOUT = Layout(NAME, find, check)
