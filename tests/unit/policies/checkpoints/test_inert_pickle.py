"""The machine that reads metadata pickles must stay inert, bounded and speak only through BadInputError."""

import os
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.checkpoints.dcp_metadata import required_lengths
from policies.contract.errors import BadInputError
from tests.tools.dcp_files import MetadataIndex, _StorageInfo, metadata, pickled

WHOLE = metadata([("__0_0.distcp", 0, 10), ("__0_0.distcp", 10, 5), ("__1_0.distcp", 0, 1 << 40)])


class Runs:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (os.system, (f"touch {self.path}",))


def test_the_highest_end_of_each_shard_is_what_it_needs() -> None:
    assert required_lengths(WHOLE) == {"__0_0.distcp": 15, "__1_0.distcp": 1 << 40}


def test_a_pickle_that_would_run_a_command_runs_none(tmp_path: Path) -> None:
    target = tmp_path / "ran"
    with pytest.raises(BadInputError, match=r"posix\.system, which is not on the list"):
        required_lengths(pickle.dumps(Runs(target)))
    assert not target.exists()


@pytest.mark.parametrize("name", ["eval", "exec", "__import__", "open", "compile"])
def test_builtins_that_run_code_are_not_on_the_list(name: str) -> None:
    for code in (
        f"cbuiltins\n{name}\n.".encode(),
        b"\x80\x04\x8c\x08builtins\x8c" + bytes([len(name)]) + name.encode() + b"\x93.",
    ):
        with pytest.raises(BadInputError, match="not on the list"):
            required_lengths(code)


@pytest.mark.parametrize(
    "code",
    [
        b"",
        b".",
        b"\x80\x04N.",
        b"N",
        b"0.",
        b"u.",
        b"(u.",
        b"}(Nu.",
        b"h\x05.",
        b"R.",
        b"NNR.",
        b"Nb.",
        b"\x93.",
        b"NN\x93.",
        b"r\xff\xff\xff\xff.",  # a memo place of 2^32 - 1
        b"Nr\xff\xff\xff\xff.",
        b"\x8d\xff\xff\xff\xff\xff\xff\xff\xffx.",  # text of 2^64 - 1 bytes
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7fx.",
        b"\x8b\xff\xff\xff\xff.",  # a number of -1 bytes
        b"\x8c\x01\xff.",
        b"P1\n.",
        b"Q.",
        b"\x82\x01.",
        b"\x97.",
        b"c" + b"a" * 1000,
    ],
)
def test_malformed_pickles_are_bad_input(code: bytes) -> None:
    with pytest.raises(BadInputError):
        required_lengths(code)


def test_nested_tuples_as_keys_cost_nothing() -> None:
    nest = b"N" + b"\x94h\x00\x86" + b"".join(b"\x94h" + bytes([at]) + b"\x86" for at in range(1, 200))
    started = time.perf_counter()
    with pytest.raises(BadInputError):
        required_lengths(b"\x80\x04}" + nest + b"Ns.")
    assert time.perf_counter() - started < 1.0


def test_a_deep_nest_of_dictionaries_does_not_exhaust_the_stack() -> None:
    with pytest.raises(BadInputError):
        required_lengths(b"\x80\x04" + b"}\x8c\x0cstorage_data" * 100_000 + b"N" + b"s" * 100_000 + b".")


@pytest.mark.parametrize("place", [("/etc/passwd", 0, 1), ("../other/__0_0.distcp", 0, 1), ("a", -1, 5), ("a", 0, -1)])
def test_places_outside_the_checkpoint_are_refused(place: tuple[str, int, int]) -> None:
    with pytest.raises(BadInputError, match="impossible place"):
        required_lengths(metadata([place]))


@pytest.mark.parametrize("value", [{}, {"storage_data": {}}, _StorageInfo("a", 0, 1), MetadataIndex("w"), [1], "text"])
def test_other_values_than_metadata_are_refused(value: object) -> None:
    with pytest.raises(BadInputError):
        required_lengths(pickled(value))


def test_metadata_without_shards_is_refused() -> None:
    with pytest.raises(BadInputError, match="names no shard"):
        required_lengths(metadata([]))


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_give_bad_input_or_lengths(code: bytes) -> None:
    judge(code)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255), st.integers(0, len(WHOLE) - 1), st.binary(max_size=6))
def test_any_damage_to_real_metadata_gives_bad_input_or_lengths(at: int, byte: int, cut: int, extra: bytes) -> None:
    judge(WHOLE[:at] + bytes([byte]) + WHOLE[at + 1 :])
    judge(WHOLE[:cut] + extra + WHOLE[cut:])


def judge(code: bytes) -> None:
    try:
        needed = required_lengths(code)
    except BadInputError:
        return
    assert needed
    assert min(needed.values()) >= 0
