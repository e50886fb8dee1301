from agent.parsers.rank_log import LossWatch, cause
from agent.parsers.training import parse_training_line
from policies.contract.vocabulary import Kind


def cause_of(*log: str) -> Kind | None:
    found = cause(sighting for line in log for sighting in parse_training_line(line))
    return found.kind if found else None


def test_a_traceback_outranks_the_exit_code_and_what_the_launcher_did() -> None:
    assert (
        cause_of(
            "E0121 api.py:869] failed (exitcode: 1) local_rank: 3 (pid: 1) of binary: /usr/bin/python3",
            "Sending process 812914 closing signal SIGTERM",
            "ValueError: not enough values to unpack",
        )
        is Kind.TRAINING_USER_ERROR
    )


def test_hardware_outranks_the_traceback_that_tells_of_it() -> None:
    assert cause_of("KeyError: 1", "CUDA error: uncorrectable ECC error encountered") is Kind.TRAINING_GPU_ERROR


def test_the_program_s_own_error_outranks_that_others_went_away() -> None:
    assert cause_of("Connection reset by peer", "KeyError: 'x'") is Kind.TRAINING_USER_ERROR


def test_of_two_equals_the_first_is_the_cause() -> None:
    lines = ["RuntimeError: Socket Timeout", "Connection reset by peer"]
    assert cause_of(*lines) is Kind.TRAINING_COLLECTIVE_TIMEOUT
    assert cause_of(*reversed(lines)) is Kind.TRAINING_PEER_LOST


def test_a_healthy_log_has_no_cause() -> None:
    assert cause_of("step 7 loss 2.1", "NCCL INFO Connected all rings") is None


def test_a_late_or_lost_peer_is_never_held_against_who_tells_of_it() -> None:
    for line in ("Watchdog caught collective operation timeout", "Connection reset by peer", "RendezvousClosedError"):
        (sighting,) = parse_training_line(line)
        assert sighting.attributes["symptom"] is True
        assert sighting.component is not None
        assert sighting.component.type == "process"


def jumps(watch: LossWatch, *values: float) -> list[float]:
    return [value for value in values if watch.take(f"{{'loss': {value}, 'grad_norm': 9.9, 'epoch': 1.0}}")]


def test_a_five_fold_jump_of_the_loss_is_told_and_does_not_become_usual() -> None:
    watch = LossWatch()
    assert jumps(watch, *[2.0] * 20) == []
    assert jumps(watch, 9.9, 10.1, 2.1, 10.2) == [10.1, 10.2]


def test_before_ten_values_nobody_knows_what_is_usual() -> None:
    assert jumps(LossWatch(), 1.0, 900.0, 1.0) == []


def test_the_loss_is_found_in_the_forms_of_the_libraries_and_not_in_its_scale() -> None:
    forms = ("lm loss: {:.6E} |", "train_loss={} lr=1", "step 7 loss {}", '"loss": {},', "loss: {}")
    for form in forms:
        watch = LossWatch()
        for _ in range(10):
            assert watch.take(form.format(2.0)) == []
        (told,) = watch.take(form.format(20.0))
        assert (told.attributes["loss"], told.attributes["usual"]) == (20.0, 2.0)
    watch = LossWatch()
    assert [watch.take(f"loss scale: {scale} | eval_loss: {scale}") for scale in [1.0] * 12 + [99.0]] == [[]] * 13
