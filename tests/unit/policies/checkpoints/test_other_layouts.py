"""Each layout besides DCP: whole, and in the ways in which it breaks."""

import io
import json
import pickle
import zipfile

import pytest

from policies.checkpoints.choose import choose, run
from tests.tools.checkpoint_trees import NOW, Reader, chosen, reasons, tree_of, under
from tests.tools.dcp_files import dcp_step

Files = dict[str, bytes]


def archive(comment: bytes = b"") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        # A date of its own: the bytes name tests, and two workers must find the same names.
        file.writestr(zipfile.ZipInfo("archive/data.pkl", (2026, 1, 1, 0, 0, 0)), b"x" * 300)
        file.comment = comment
    return out.getvalue()


def tensors(length: int = 64) -> bytes:
    header = json.dumps({"__metadata__": {"format": "pt"}, "w": {"dtype": "F32", "data_offsets": [0, length]}}).encode()
    return len(header).to_bytes(8, "little") + header + bytes(length)


ZIP, TENSORS = archive(), tensors()
MEGATRON = {**dcp_step(), "metadata.json": b'{"sharded_backend": "torch_dist"}', "common.pt": ZIP}
NEMO = {**under("weights", MEGATRON), "context/model.yaml": b"x"}
RANKS = {f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt": ZIP for rank in range(2)}
DEEPSPEED = {"mp_rank_00_model_states.pt": ZIP, **RANKS}
ACCELERATE = {
    "model.safetensors": TENSORS,
    "optimizer.bin": ZIP,
    "random_states_0.pkl": ZIP,
    "random_states_1.pkl": ZIP,
}
ORBAX = {
    "_CHECKPOINT_METADATA": b'{"item_handlers": {"default": "h"}, "commit_timestamp_nsecs": 5}',
    "commit_success.txt": b"done",
    "default/manifest.ocdbt": b"m",
    "default/_METADATA": b"m",
}


def trainer(step: int) -> Files:
    state = json.dumps({"global_step": step}).encode()
    return {
        "trainer_state.json": state,
        "model.safetensors": TENSORS,
        "optimizer.pt": ZIP,
        "scheduler.pt": ZIP,
        "rng_state_0.pth": ZIP,
        "rng_state_1.pth": ZIP,
    }


def two(older: str, newer: str, files: Files) -> Files:
    return {**under(older, files), **under(newer, files)}


WHOLE: dict[str, tuple[Files, str, int]] = {
    "megatron_dist": (two("iter_0000100", "iter_0000200", MEGATRON), "iter_0000200", 200),
    "nemo2": (two("m--val=1.0-step=100", "m--val=0.9-step=200", NEMO), "m--val=0.9-step=200", 200),
    "deepspeed": (two("global_step2", "global_step4", DEEPSPEED), "global_step4", 4),
    "hf_trainer": (
        {**under("checkpoint-100", trainer(100)), **under("checkpoint-200", trainer(200))},
        "checkpoint-200",
        200,
    ),
    "accelerate": (
        two("checkpoints/checkpoint_0", "checkpoints/checkpoint_1", ACCELERATE),
        "checkpoints/checkpoint_1",
        1,
    ),
    "orbax": (two("100", "200", ORBAX), "200", 200),
    "lightning": ({"epoch=0-step=3.ckpt": ZIP, "epoch=0-step=6.ckpt": ZIP, "last.ckpt": ZIP}, "epoch=0-step=6.ckpt", 6),
    "safetensors": (two("step-1", "step-2", {"model.safetensors": TENSORS}), "step-2", 2),
}


@pytest.mark.parametrize("layout", WHOLE)
def test_the_newest_whole_one_is_chosen(layout: str) -> None:
    files, path, step = WHOLE[layout]
    for wanted in ("auto", layout):
        choice = chosen(files, layout=wanted)
        assert (choice.chosen_step, choice.path, choice.layout, choice.refused) == (step, path, layout, ())


@pytest.mark.parametrize(
    ("layout", "broken", "body", "reason"),
    [
        ("megatron_dist", "metadata.json", None, "metadata.json is missing"),
        ("megatron_dist", "metadata.json", b'{"sharded_', "metadata.json is truncated or no JSON object"),
        ("megatron_dist", "metadata.json", b'{"sharded_backend": "zarr"}', "metadata.json names the backend 'zarr'"),
        ("megatron_dist", "common.pt", None, "common.pt is missing"),
        ("megatron_dist", "common.pt", ZIP[:-5], "common.pt is truncated"),
        ("megatron_dist", "__1_0.distcp", b"", "shard __1_0.distcp is short"),
        ("nemo2", "weights/common.pt", b"", "common.pt is empty"),
        ("nemo2", "weights/.metadata", None, "missing .metadata"),
        ("deepspeed", "mp_rank_00_model_states.pt", None, "mp_rank_00_model_states.pt is missing"),
        ("deepspeed", "zero_pp_rank_0_mp_rank_00_optim_states.pt", None, "the optimizer file of data-parallel rank 0"),
        (
            "deepspeed",
            "zero_pp_rank_1_mp_rank_00_optim_states.pt",
            None,
            "zero_pp_rank_1_mp_rank_00_optim_states.pt is missing",
        ),
        ("deepspeed", "zero_pp_rank_1_mp_rank_00_optim_states.pt", ZIP[:40], "is truncated: the zip's end record"),
        ("deepspeed", "zero_pp_rank_1_mp_rank_00_optim_states.pt", b"\x00" * 99, "begins with neither a zip's"),
        ("hf_trainer", "trainer_state.json", None, "trainer_state.json is missing"),
        ("hf_trainer", "trainer_state.json", b'{"global_step": 100}', "trainer_state.json tells step 100"),
        ("hf_trainer", "optimizer.pt", None, "optimizer.pt is missing"),
        ("hf_trainer", "optimizer.pt", ZIP[:-1], "optimizer.pt is truncated"),
        ("hf_trainer", "rng_state_1.pth", None, "rng_state_1.pth is missing"),
        ("hf_trainer", "model.safetensors", None, "the weights are missing"),
        ("hf_trainer", "model.safetensors", TENSORS[:-1], "model.safetensors has"),
        ("hf_trainer", "model.safetensors", TENSORS[:20], "model.safetensors is truncated in its header"),
        ("accelerate", "optimizer.bin", ZIP[:-9], "optimizer.bin is truncated"),
        ("accelerate", "random_states_1.pkl", None, "random_states_1.pkl is missing"),
        ("accelerate", "random_states_0.pkl", None, "random_states_0.pkl is missing"),
        ("accelerate", "model.safetensors", None, "the model is missing"),
        ("orbax", "commit_success.txt", None, "commit_success.txt is missing"),
        ("orbax", "_CHECKPOINT_METADATA", b'{"item_handlers": {}}', "_CHECKPOINT_METADATA has no commit time"),
        ("orbax", "default/manifest.ocdbt", None, "default/manifest.ocdbt is missing"),
        ("orbax", "default/_METADATA", b"", "default/_METADATA is empty"),
        ("safetensors", "model.safetensors", TENSORS + b"x", "model.safetensors has"),
        ("safetensors", "model.safetensors", b"\xff" * 50, "is truncated in its header"),
    ],
)
def test_a_broken_newest_one_is_refused_with_its_reason(
    layout: str, broken: str, body: bytes | None, reason: str
) -> None:
    files, path, step = WHOLE[layout]
    damaged = {key: value for key, value in files.items() if key != f"{path}/{broken}"}
    if body is not None:
        damaged[f"{path}/{broken}"] = body
    choice = chosen(damaged)
    assert reason in reasons(choice)[step]
    assert choice.chosen_step is not None
    assert choice.chosen_step < step


def test_a_truncated_lightning_file_is_refused() -> None:
    choice = chosen({"epoch=0-step=3.ckpt": ZIP, "epoch=0-step=6.ckpt": ZIP[:-30], "last.ckpt": ZIP[:-30]})
    assert (choice.chosen_step, list(reasons(choice))) == (3, [6])


def test_a_zip_with_a_long_comment_is_whole() -> None:
    assert chosen({"epoch=0-step=3.ckpt": archive(b"c" * 60_000)}).chosen_step == 3


def test_a_bare_pickle_is_what_older_writers_left() -> None:
    files = {**ACCELERATE, "random_states_0.pkl": pickle.dumps([1, 2, 3])}
    assert chosen(under("checkpoint_0", files)).chosen_step == 0


def test_trackers_and_latest_files_are_hints_only() -> None:
    files, _, _ = WHOLE["megatron_dist"]
    assert chosen({**files, "latest_checkpointed_iteration.txt": b"100"}).chosen_step == 200
    assert chosen({**files, "latest_checkpointed_iteration.txt": b""}).chosen_step == 200
    files, _, _ = WHOLE["deepspeed"]
    assert chosen({**files, "latest": b""}).chosen_step == 4


def test_a_kill_before_anything_but_common_pt_is_known_by_its_neighbours() -> None:
    files = {**under("iter_0000100", MEGATRON), "iter_0000200/common.pt": ZIP}
    assert reasons(chosen(files)) == {200: "metadata.json is missing"}


def test_nemo_ignores_what_has_an_unfinished_marker() -> None:
    files, path, _ = WHOLE["nemo2"]
    choice = chosen({**files, f"{path}-unfinished": b""})
    assert (choice.chosen_step, "did not finish" in reasons(choice)[200]) == (100, True)


def test_orbax_needs_the_commit_file_on_an_object_store_and_none_on_a_disk_that_renames() -> None:
    files = {key: body for key, body in two("100", "200", ORBAX).items() if not key.endswith("commit_success.txt")}
    assert chosen(files).chosen_step is None
    on_disk = tree_of(files, object_store=False)
    assert run(choose(on_disk, now=NOW), Reader(files)).chosen_step == 200
    temporary = {**files, "300.orbax-checkpoint-tmp-17/_CHECKPOINT_METADATA": ORBAX["_CHECKPOINT_METADATA"]}
    choice = run(choose(tree_of(temporary, object_store=False), now=NOW), Reader(temporary))
    assert (choice.chosen_step, list(reasons(choice))) == (200, [300])


def test_a_world_that_shrank_for_good_is_not_taken_for_a_lost_rank() -> None:
    smaller = {key: body for key, body in DEEPSPEED.items() if "rank_1" not in key}
    files = {**under("global_step2", DEEPSPEED), **under("global_step4", smaller), **under("global_step6", smaller)}
    assert chosen(files).chosen_step == 6


def test_sharded_weights_need_every_file_of_their_index() -> None:
    index = json.dumps({"weight_map": {"a": "m-00001-of-00002.safetensors", "b": "m-00002-of-00002.safetensors"}})
    shards = {f"m-0000{number}-of-00002.safetensors": TENSORS for number in (1, 2)}
    files = {"m.safetensors.index.json": index.encode(), **shards}
    assert chosen(under("checkpoint-6", files)).chosen_step == 6
    for lost in files:
        left = {name: body for name, body in files.items() if name != lost}
        assert chosen(under("checkpoint-6", left)).chosen_step is None


def test_of_two_layouts_the_newer_step_wins_and_weights_alone_never_beat_a_resumable_one() -> None:
    both = {**under("dcp/step-30", dcp_step()), **under("hf/checkpoint-40", trainer(40))}
    assert (chosen(both).layout, chosen(both).chosen_step) == ("hf_trainer", 40)
    weights = {**under("step-30", dcp_step()), **under("export/step-90", {"model.safetensors": TENSORS})}
    assert (chosen(weights).layout, chosen(weights).chosen_step) == ("torch_dcp", 30)


def test_counts_of_saves_never_compete_with_steps() -> None:
    files = {**under("step-3", dcp_step()), **under("checkpoint_7", ACCELERATE)}
    assert (chosen(files).layout, chosen(files).chosen_step) == ("torch_dcp", 3)


def test_fsdp_weights_inside_a_trainer_folder_are_judged_as_dcp() -> None:
    files = {name: body for name, body in trainer(6).items() if not name.startswith(("model", "optimizer"))}
    files = {**files, **under("pytorch_model_fsdp_0", dcp_step()), **under("optimizer_0", dcp_step())}
    assert chosen(under("checkpoint-6", files)).chosen_step == 6
    torn = {**files, "optimizer_0/__0_0.distcp": b""}
    assert "optimizer_0: shard __0_0.distcp is short" in reasons(chosen(under("checkpoint-6", torn)))[6]


def test_saves_whose_numbers_and_times_disagree_are_said_to_be_so() -> None:
    files = {f"checkpoint_{number}/{name}": body for number in (0, 7) for name, body in ACCELERATE.items()}
    assert chosen(files, {"checkpoint_0": 900.0, "checkpoint_7": 60.0}).doubts == ()
    choice = chosen(files, {"checkpoint_0": 60.0, "checkpoint_7": 900.0})
    assert choice.doubts == ("checkpoint_0 was written after checkpoint_7: the count may have started anew",)
