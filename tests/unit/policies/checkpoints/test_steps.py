import pytest

from policies.checkpoints.steps import is_unfinished, step_of


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step-30", 30),
        ("step_30", 30),
        ("step30", 30),
        ("steps-30", 30),
        ("iter_0000100", 100),
        ("iteration-5", 5),
        ("global_step4", 4),
        ("global_step_40", 40),
        ("checkpoint-6", 6),
        ("ckpt_17", 17),
        ("00000100", 100),
        ("ep0-ba100", 100),
        ("epoch_2_step_30", 30),
        ("epoch=0-step=6.ckpt", 6),
        ("model--val_loss=1.20-step=99-consumed_samples=792.0", 99),
        ("epoch_3", 3),
        ("step-30.tmp", 30),
        ("tmp-checkpoint-6", 6),
        ("100.orbax-checkpoint-tmp-1700000000", 100),
    ],
)
def test_the_step_is_read_from_every_usual_spelling(name: str, step: int) -> None:
    assert step_of(name) == step


@pytest.mark.parametrize(
    "name", ["", "latest", "pytorch_model_fsdp_0", "optimizer_0", "run-7", "v2", "rank_3", "logs-2026"]
)
def test_other_names_tell_no_step(name: str) -> None:
    assert step_of(name) is None


@pytest.mark.parametrize("name", ["step-30.tmp", "step-30-unfinished", "tmp-checkpoint-6", "7.orbax-checkpoint-tmp-1"])
def test_names_of_unfinished_saves_are_known(name: str) -> None:
    assert is_unfinished(name)
    assert not is_unfinished("step-30")
