"""Writes what torch's distributed checkpoint writes, without torch: a folder's files as bytes.

The classes carry torch's names and are pickled by Python's own pickler, so the opcodes are the real ones.
"""

import io
import pickle
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any


@dataclass
class Metadata:
    state_dict_metadata: dict[str, Any]
    planner_data: dict[str, Any] = field(default_factory=dict)
    storage_data: dict[Any, Any] = field(default_factory=dict)
    storage_meta: Any = None
    version: str = "1.0.0"


@dataclass(frozen=True)
class MetadataIndex:
    fqn: str
    offset: tuple[int, ...] | None = None
    index: int | None = None


@dataclass
class StorageMeta:
    checkpoint_id: PurePosixPath
    save_id: str
    modules: list[str] = field(default_factory=list)


@dataclass
class TensorStorageMetadata:
    size: tuple[int, ...]
    chunks: list[tuple[int, ...]]


@dataclass
class _StorageInfo:
    relative_path: str
    offset: int
    length: int


_HOMES: Mapping[str, tuple[type, ...]] = {
    "torch.distributed.checkpoint.metadata": (Metadata, MetadataIndex, StorageMeta, TensorStorageMetadata),
    "torch.distributed.checkpoint.filesystem": (_StorageInfo,),
}


@contextmanager
def torch_names() -> Iterator[None]:
    """Let the pickler find the classes under torch's module names."""
    before = dict(sys.modules)
    homes = {cls: cls.__module__ for classes in _HOMES.values() for cls in classes}
    try:
        for module, classes in _HOMES.items():
            parts = module.split(".")
            for depth in range(1, len(parts) + 1):
                sys.modules[".".join(parts[:depth])] = ModuleType(".".join(parts[:depth]))
            for cls in classes:
                cls.__module__ = module
                setattr(sys.modules[module], cls.__name__, cls)
        yield
    finally:
        for cls, home in homes.items():
            cls.__module__ = home
        for name in set(sys.modules) - set(before):
            del sys.modules[name]


def pickled(value: object, protocol: int = 4) -> bytes:
    """Return the pickle of *value* as a job would have written it."""
    out = io.BytesIO()
    with torch_names():
        pickle.Pickler(out, protocol).dump(value)
    return out.getvalue()


def metadata(places: Sequence[tuple[str, int, int]], protocol: int = 4) -> bytes:
    """Return a `.metadata` that names *places*: (shard, offset, length) each."""
    tensors = {f"layers.{at}.weight": TensorStorageMetadata((8, 8), [(0, 0)]) for at in range(len(places))}
    storage = {
        MetadataIndex(name, (0, 0), at): _StorageInfo(*place)
        for at, (name, place) in enumerate(zip(tensors, places, strict=True))
    }
    meta = StorageMeta(PurePosixPath("checkpoints/step-30"), "381b422f-c57b-43fe-bcf7-729cc58ce62f")
    return pickled(Metadata(tensors, {"layers.0.weight": ("layers", "0")}, storage, meta), protocol)


def dcp_step(ranks: int = 2, length: int = 100) -> dict[str, bytes]:
    """Return the files of one whole step: each rank's shard holds two tensors of *length* bytes."""
    places = [(f"__{rank}_0.distcp", at * length, length) for rank in range(ranks) for at in range(2)]
    shards = {f"__{rank}_0.distcp": bytes(2 * length) for rank in range(ranks)}
    return {".metadata": metadata(places), **shards}
