import pytest

from policies.checkpoints.choose import choose, run
from tests.tools.checkpoint_trees import NOW, Reader, chosen, reasons, tree_of, under
from tests.tools.dcp_files import dcp_step, metadata

STEPS = {**under("step-10", dcp_step()), **under("step-20", dcp_step()), **under("step-30", dcp_step())}


def without(*keys: str) -> dict[str, bytes]:
    return {key: body for key, body in STEPS.items() if key not in keys}


def test_the_newest_of_whole_steps_is_chosen_and_none_refused() -> None:
    choice = chosen(STEPS)
    assert (choice.chosen_step, choice.path, choice.layout, choice.refused) == (30, "step-30", "torch_dcp", ())


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (without("step-30/.metadata"), "missing .metadata: the save did not finish"),
        (
            {**without("step-30/.metadata"), "step-30/.metadata.tmp": dcp_step()[".metadata"]},
            "missing .metadata: there is only .metadata.tmp, the save did not finish",
        ),
        (
            {**without("step-30/.metadata"), "step-30/.metadata.sagemaker-uploading": b"x"},
            "missing .metadata: it is still being uploaded",
        ),
        (without("step-30/__1_0.distcp"), "shard __1_0.distcp is missing: needs 200 bytes"),
        (
            {**without("step-30/__1_0.distcp"), "step-30/__1_0.distcp.sagemaker-uploading": bytes(200)},
            "shard __1_0.distcp is missing: needs 200 bytes, it is still being uploaded",
        ),
        ({**STEPS, "step-30/__1_0.distcp": bytes(199)}, "shard __1_0.distcp is short: has 199 bytes, needs 200"),
        ({**STEPS, "step-30/__0_0.distcp": b""}, "shard __0_0.distcp is short: has 0 bytes, needs 200"),
        (
            {**STEPS, "step-30/__0_0.distcp": b"", "step-30/__1_0.distcp": b""},
            "shard __0_0.distcp is short: has 0 bytes, needs 200 (and 1 more shards)",
        ),
        ({**STEPS, "step-30/.metadata": b""}, ".metadata has 0 bytes; one of 1 to 67108864 can be read"),
        (
            {**without(*(key for key in STEPS if key.startswith("step-30"))), "step-30/": b""},
            "missing .metadata, and no shard either: nothing was saved here yet",
        ),
        ({**STEPS, "step-30-unfinished": b""}, "step-30-unfinished stands beside it: the save did not finish"),
    ],
)
def test_a_torn_newest_step_is_refused_and_the_one_before_taken(files: dict[str, bytes], reason: str) -> None:
    choice = chosen(files)
    assert (choice.chosen_step, reasons(choice)) == (20, {30: reason})


def test_every_cut_of_the_metadata_is_refused() -> None:
    whole = dcp_step()[".metadata"]
    for length in range(1, len(whole), 7):
        choice = chosen({**STEPS, "step-30/.metadata": whole[:length]})
        assert choice.chosen_step == 20
        assert reasons(choice)[30].startswith("truncated or foreign .metadata: ")


def test_shards_that_nobody_names_and_longer_ones_do_no_harm() -> None:
    files = {**STEPS, "step-30/__7_0.distcp": b"left over", "step-30/__0_0.distcp": bytes(900)}
    assert chosen(files).chosen_step == 30


def test_stale_upload_files_beside_whole_ones_do_no_harm() -> None:
    assert chosen({**STEPS, "step-30/__0_0.distcp.sagemaker-uploading": b""}).chosen_step == 30


def test_checkpoints_deep_below_the_prefix_are_found() -> None:
    choice = chosen(under("team/run-7/checkpoints", STEPS))
    assert (choice.chosen_step, choice.path) == (30, "team/run-7/checkpoints/step-30")


def test_all_units_of_a_step_must_be_whole() -> None:
    both = {step: {**under("model", dcp_step()), **under("optimizer", dcp_step())} for step in (10, 20, 30)}
    files = {key: body for step, unit in both.items() for key, body in under(f"global_step_{step}", unit).items()}
    assert chosen(files).chosen_step == 30
    torn = {**files, "global_step_30/optimizer/__1_0.distcp": b""}
    assert reasons(chosen(torn)) == {30: "optimizer: shard __1_0.distcp is short: has 0 bytes, needs 200"}
    lost = {key: body for key, body in files.items() if not key.startswith("global_step_30/optimizer")}
    assert reasons(chosen(lost)) == {30: "optimizer/.metadata is missing, which other steps have"}


def test_only_metadata_is_read_and_only_down_to_the_first_whole_step() -> None:
    files = without("step-30/.metadata")
    reader = Reader(files)
    run(choose(tree_of(files), now=NOW), reader)
    assert [read.entry.key for read in reader.reads] == ["step-20/.metadata"]


def test_a_file_that_vanishes_while_being_looked_at_is_a_reason_not_a_crash() -> None:
    gone = {**STEPS, "step-30/.metadata": b""}
    choice = run(choose(tree_of(STEPS), now=NOW), Reader(gone))
    assert (choice.chosen_step, reasons(choice)) == (20, {30: ".metadata changed while it was read"})


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_pickle_protocol_of_a_writer_is_read(protocol: int) -> None:
    files = {".metadata": metadata([("__0_0.distcp", 5, 10)], protocol), "__0_0.distcp": bytes(15)}
    assert chosen(under("step-1", files)).chosen_step == 1
    assert chosen(under("step-1", {**files, "__0_0.distcp": bytes(14)})).chosen_step is None
