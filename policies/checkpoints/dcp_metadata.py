"""What a torch distributed checkpoint's `.metadata` says about its shards: how long each must at least be.

Decides which classes such a file may mention. No torch: the classes are names. It must not look at the shards.
Sources: torch/distributed/checkpoint/{metadata,filesystem,planner,hf_storage}.py of torch 1.13 to 2.9,
torch/distributed/_shard/checkpoint of 1.12, megatron/core/dist_checkpointing of Megatron-Core 0.6 to 0.14.
"""

import re
from collections.abc import Mapping

from policies.checkpoints.inert_opcodes import load
from policies.checkpoints.inert_pickle import HINT, Fields, Node
from policies.contract.errors import BadInputError

METADATA_LIMIT_BYTES = 64 * 1024 * 1024
"""Some 400,000 chunks; a 405 B model on 2,048 ranks has fewer."""

_METADATA = frozenset({
    "Metadata", "MetadataIndex", "StorageMeta", "TensorStorageMetadata", "BytesStorageMetadata", "ChunkStorageMetadata",
    "TensorProperties", "MEM_FORMAT_ENCODING", "_MEM_FORMAT_ENCODING", "ShardMetadata", "ShardedTensorMetadata",
    "ShardStorageMetadata", "ShardedTensorStorageMetadata",
})  # fmt: skip
_STORAGE = frozenset({"_StorageInfo", "_StoragePrefix", "_HFStorageInfo"})
_PLAN = frozenset({
    "SavePlan", "WriteItem", "WriteItemType", "TensorWriteData", "BytesIOWriteData", "MCoreSavePlan", "MCoreMetadata",
})  # fmt: skip
_PATHS = frozenset({"PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath", "Path"})
_CLASSES: Mapping[str, frozenset[str]] = {
    "torch.distributed.checkpoint.metadata": _METADATA,
    "torch.distributed.checkpoint.filesystem": _STORAGE,
    "torch.distributed.checkpoint.hf_storage": _STORAGE,
    "torch.distributed.checkpoint._hf_utils": _STORAGE,
    "torch.distributed.checkpoint.planner": _PLAN,
    "torch.distributed._shard.checkpoint.metadata": _METADATA,
    "torch.distributed._shard.checkpoint.filesystem": _STORAGE,
    "torch.distributed._shard.sharded_tensor.metadata": _METADATA,
    "torch.distributed._shard.metadata": _METADATA,
    "torch.distributed.remote_device": frozenset({"_remote_device"}),
    "torch.serialization": frozenset({"_get_layout"}),
    "megatron.core.dist_checkpointing.strategies.torch": _PLAN,
    "megatron.core.dist_checkpointing.mapping": _PLAN,
    "collections": frozenset({"OrderedDict"}),
    "pathlib": _PATHS,
    "pathlib._local": _PATHS,  # Python 3.13
    "builtins": frozenset(
        {"getattr", "set", "frozenset"}
    ),  # enum members of Python 3.11.0 to 3.11.4; never called here
}
# torch.float32, torch.Size, torch.device, torch.strided …: the dtypes are too many and too new to list.
_TORCH = re.compile(
    r"^(?:Size|device|dtype|layout|memory_format|strided|sparse_\w+|(?:b?float|u?int|complex|q|bool|half|double|long)\w*)$"
)
_KEEP = frozenset({"storage_data", "relative_path", "offset", "length"})
_ROOTS = frozenset({"Metadata", "MCoreMetadata"})


def required_lengths(pickled: bytes) -> dict[str, int]:
    """Return shard path (relative to the folder of `.metadata`) -> bytes it must at least have.

    That is the highest offset + length which `storage_data` names for it. BadInputError says why *pickled* is no
    metadata: cut off, other classes than a checkpoint's, or without storage data.
    """
    storage = _storage_of(load(pickled, allowed=_is_allowed, keep=_KEEP))
    needed: dict[str, int] = {}
    for value in storage.others or ():  # its keys are MetadataIndex objects, never text
        path, end = _place(value)
        needed[path] = max(needed.get(path, 0), end)
    if not needed:
        raise BadInputError("it names no shard.", hint=HINT)
    return needed


def _is_allowed(module: str, name: str) -> bool:
    return bool(_TORCH.match(name)) if module == "torch" else name in _CLASSES.get(module, ())


def _storage_of(root: object) -> Fields:
    state = root.state if isinstance(root, Node) and root.cls.name in _ROOTS else None
    storage = state.get("storage_data") if state else None
    if not isinstance(storage, Fields):
        raise BadInputError("it holds no Metadata with storage_data.", hint=HINT)
    return storage


def _place(value: object) -> tuple[str, int]:
    state = value.state if isinstance(value, Node) and value.cls.name in _STORAGE else None
    path, offset, length = (state.get(key) if state else None for key in ("relative_path", "offset", "length"))
    if not isinstance(path, str) or type(offset) is not int or type(length) is not int:
        raise BadInputError("its storage_data holds something other than places in shards.", hint=HINT)
    if offset < 0 or length < 0 or path.startswith("/") or ".." in path.split("/"):
        raise BadInputError(f"its storage_data names an impossible place ({path[:80]!r}).", hint=HINT)
    return path, offset + length
