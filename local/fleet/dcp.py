"""A PyTorch distributed checkpoint without torch: the shards of each writing rank, and `.metadata` as torch writes it.

Layout and classes as torch 2.9 pickles them (torch/distributed/checkpoint/metadata.py, filesystem.py,
default_planner.py). A fully sharded model: each writing rank holds one slice of the rows of every tensor. The bytes
within a shard mean nothing here; their places and lengths do. It must not know S3.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from local.fleet.pickling import Call, Global, Instance, dumps

_META = "torch.distributed.checkpoint.metadata"
_STORAGE = "torch.distributed.checkpoint.filesystem"
# What torch.save adds around each item's raw bytes (a zip): about so much for one small tensor or object.
_ITEM_OVERHEAD = 1200
_FLOAT32_BYTES = 4
METADATA_FILE = ".metadata"


@dataclass(frozen=True, slots=True)
class Tensor:
    """One parameter: its name and its rows × columns of float32. The rows divide by the number of writers."""

    name: str
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where one item lies: which item, in which shard, from which byte and how long."""

    tensor: Tensor | None  # None: the step counter, which rank 0 writes as bytes
    index: int
    shard: str
    offset: int
    length: int


MODEL = (
    Tensor("model.embed.weight", 64, 32),
    Tensor("model.layers.0.weight", 128, 16),
    Tensor("optim.exp_avg", 64, 32),
)


@dataclass(frozen=True)
class Checkpoint:
    """One save. `shards` maps a file's name to its bytes; `metadata` is written after all of them."""

    step: int
    shards: dict[str, bytes]
    metadata: bytes

    @property
    def folder(self) -> str:
        return folder_of(self.step)


def folder_of(step: int) -> str:
    """The folder's name: `step-20`."""
    return f"step-{step}"


def shard_name(rank: int) -> str:
    """The first file of this rank: `__8_0.distcp`."""
    return f"__{rank}_0.distcp"


def checkpoint(step: int, ranks: Sequence[int], save_id: str, model: Sequence[Tensor] = MODEL) -> Checkpoint:
    """The checkpoint that *ranks* would write at *step*."""
    places = _layout(ranks, model)
    lengths: dict[str, int] = {}
    for place in places:
        lengths[place.shard] = max(lengths.get(place.shard, 0), place.offset + place.length)
    shards = {name: _filling(f"{step}/{name}", length) for name, length in lengths.items()}
    return Checkpoint(step, shards, dumps(_metadata(step, ranks, model, places, save_id)))


def _layout(ranks: Sequence[int], model: Sequence[Tensor]) -> list[Place]:
    places: list[Place] = []
    for index, rank in enumerate(ranks):
        offset = 0
        items: list[Tensor | None] = [*model, *([None] if index == 0 else [])]
        for tensor in items:
            raw = 8 if tensor is None else tensor.rows // len(ranks) * tensor.columns * _FLOAT32_BYTES
            places.append(Place(tensor, index, shard_name(rank), offset, raw + _ITEM_OVERHEAD))
            offset += raw + _ITEM_OVERHEAD
    return places


def _filling(seed: str, length: int) -> bytes:
    return hashlib.shake_128(seed.encode()).digest(length)


def _metadata(step: int, ranks: Sequence[int], model: Sequence[Tensor], places: list[Place], save_id: str) -> Instance:
    names: dict[str, Any] = {tensor.name: _tensor_metadata(tensor, len(ranks)) for tensor in model}
    planner = {tensor.name: tuple(tensor.name.split(".", 1)) for tensor in model}
    return _instance(
        "Metadata",
        state_dict_metadata={**names, "step": Instance(Global(_META, "BytesStorageMetadata"))},
        planner_data={**planner, "step": ("step",)},
        storage_data={_index_of(place, len(ranks)): _storage_info(place) for place in places},
        storage_meta=_instance("StorageMeta", checkpoint_id=folder_of(step), save_id=save_id, load_id=None, modules=[]),
        version="1.0.0",
    )


def _instance(name: str, module: str = _META, **state: object) -> Instance:
    return Instance(Global(module, name), state)


def _size(*numbers: int) -> Call:
    return Call(Global("torch", "Size"), (tuple(numbers),))


def _rows_from(tensor: Tensor, index: int, writers: int) -> Call:
    return _size(tensor.rows // writers * index, 0)


def _tensor_metadata(tensor: Tensor, writers: int) -> Instance:
    # TensorProperties pickles itself as (dtype, layout, requires_grad, memory format, pin_memory).
    layout = Call(Global("torch.serialization", "_get_layout"), ("torch.strided",))
    memory = Call(Global(_META, "_MEM_FORMAT_ENCODING"), (0,))
    properties = (Global("torch", "float32"), layout, False, memory, False)
    chunks = [
        _instance(
            "ChunkStorageMetadata",
            offsets=_rows_from(tensor, index, writers),
            sizes=_size(tensor.rows // writers, tensor.columns),
        )
        for index in range(writers)
    ]
    return _instance(
        "TensorStorageMetadata",
        properties=Instance(Global(_META, "TensorProperties"), properties),
        size=_size(tensor.rows, tensor.columns),
        chunks=chunks,
    )


def _index_of(place: Place, writers: int) -> Instance:
    if place.tensor is None:
        return _instance("MetadataIndex", fqn="step", offset=None)
    offset = _rows_from(place.tensor, place.index, writers)
    return _instance("MetadataIndex", fqn=place.tensor.name, index=place.index, offset=offset)


def _storage_info(place: Place) -> Instance:
    return _instance("_StorageInfo", _STORAGE, relative_path=place.shard, offset=place.offset, length=place.length)
