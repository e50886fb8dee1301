"""Checkpoints without torch have the form that torch's own have."""

import io
import pickle
import pickletools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.fleet import dcp, pickling
from policies.checkpoints.dcp_metadata import required_lengths

RANKS = tuple(range(0, 64, 8))


class Anything:
    """Stands for every class of torch, and keeps what it was made with."""

    def __init__(self, *args: object) -> None:
        self.args = args
        self.state: Any = None

    def __setstate__(self, state: object) -> None:
        self.state = state


class Reader(pickle.Unpickler):
    seen: set[tuple[str, str]]

    def find_class(self, module: str, name: str) -> type:
        self.seen.add((module, name))
        return type(name, (Anything,), {})


def read(content: bytes) -> tuple[Any, set[tuple[str, str]]]:
    reader = Reader(io.BytesIO(content))
    reader.seen = set()
    return reader.load(), reader.seen


def test_the_metadata_names_the_classes_that_torch_pickles() -> None:
    _, seen = read(dcp.checkpoint(20, RANKS, "id").metadata)
    metadata = "torch.distributed.checkpoint.metadata"
    assert seen == {
        *((metadata, name) for name in ("Metadata", "MetadataIndex", "StorageMeta", "TensorStorageMetadata")),
        *((metadata, name) for name in ("TensorProperties", "ChunkStorageMetadata", "BytesStorageMetadata")),
        (metadata, "_MEM_FORMAT_ENCODING"),
        ("torch.distributed.checkpoint.filesystem", "_StorageInfo"),
        ("torch", "Size"),
        ("torch", "float32"),
        ("torch.serialization", "_get_layout"),
    }


def test_the_chunks_of_a_tensor_cover_it_without_overlap() -> None:
    root, _ = read(dcp.checkpoint(20, RANKS, "id").metadata)
    for tensor in dcp.MODEL:
        chunks = root.state["state_dict_metadata"][tensor.name].state["chunks"]
        places = [(chunk.state["offsets"].args[0], chunk.state["sizes"].args[0]) for chunk in chunks]
        assert [offset[0] for offset, _ in places] == [size[0] * index for index, (_, size) in enumerate(places)]
        assert sum(size[0] for _, size in places) == tensor.rows
        assert {size[1] for _, size in places} == {tensor.columns}


def test_every_place_of_the_storage_data_lies_within_its_shard() -> None:
    checkpoint = dcp.checkpoint(20, RANKS, "id")
    root, _ = read(checkpoint.metadata)
    ends = [
        (info.state["relative_path"], info.state["offset"] + info.state["length"])
        for info in root.state["storage_data"].values()
    ]
    assert {path for path, _ in ends} == set(checkpoint.shards)
    assert {path: max(end for other, end in ends if other == path) for path, _ in ends} == {
        name: len(content) for name, content in checkpoint.shards.items()
    }


def test_our_own_reader_needs_exactly_what_was_written() -> None:
    checkpoint = dcp.checkpoint(40, RANKS, "id")
    assert required_lengths(checkpoint.metadata) == {name: len(data) for name, data in checkpoint.shards.items()}
    assert checkpoint.folder == "step-40"
    assert "__56_0.distcp" in checkpoint.shards


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=5) | st.integers(), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(PLAIN)
def test_what_is_pickled_here_is_read_by_pickle(value: object) -> None:
    content = pickling.dumps(value)
    assert pickle.loads(content) == value
    pickletools.dis(content, io.StringIO())


def test_what_has_no_description_is_refused() -> None:
    with pytest.raises(TypeError, match="describe it as an Instance"):
        pickling.dumps(1.5)
