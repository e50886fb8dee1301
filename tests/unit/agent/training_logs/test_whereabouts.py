from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.training_logs.lines import parse_rank_line
from agent.training_logs.whereabouts import NameTells, Progress, read_name
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator


@pytest.mark.parametrize(
    ("line", "step", "epoch"),
    [
        (" iteration     1200/    5000 | consumed samples: 1228800 | lm loss: 2.310000E+00", 1200, None),
        ("[2026-01-31 12:00:00,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=1200, skipped=0, lr=[0]", 1200, None),
        ("step: 1200  loss:  5.2134  memory: 60.11GiB(75.93%)", 1200, None),
        ("Epoch 3:  24%|██▍       | 1200/5000 [12:00<38:00, v_num=0, global_step=1199]", 1199, 3),
        ("{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 1e-05, 'epoch': 1.2}", None, 1),
        ("global_step 77 epoch [2/10]", 77, 2),
        ("steps_per_epoch=100", None, None),
        ("misstep 3 and litter: 4", None, None),
        ("max_steps=5000, num_epochs=3", None, None),
        ("  Total optimization steps = 5,000", None, None),
        ("optimizer step took 1.5 s", None, None),
    ],
)
def test_step_and_epoch_of_the_usual_trainers(line: str, step: int | None, epoch: int | None) -> None:
    progress = Progress()
    progress.read(line)
    assert (progress.step, progress.epoch) == (step, epoch)


@pytest.mark.parametrize(
    ("name", "rank", "job"),
    [
        ("/logs/rank3.log", 3, None),
        ("/logs/run/global_rank_12/stderr.log", 12, None),
        ("/logs/franklin.log", None, None),
        ("/data/slurm-123.out", None, JobRef(id="123", orchestrator=Orchestrator.SLURM)),
        ("/data/slurm-123_4.out", 4, JobRef(id="123", orchestrator=Orchestrator.SLURM)),
        (
            "/var/log/pods/ml_llama-worker-3_0b1c2d3e-0000-4000-8000-000000000000/pytorch/0.log",
            None,
            JobRef(id="ml/llama", orchestrator=Orchestrator.EKS),
        ),
        ("/var/log/pods/ml_web-5d8f9_0b1c2d3e-0000-4000-8000-000000000000/web/0.log", None, None),
    ],
)
def test_what_a_file_s_name_tells(name: str, rank: int | None, job: JobRef | None) -> None:
    assert read_name(Path(name)) == NameTells(rank, job, read_name(Path(name)).pod)


def test_a_pod_s_log_tells_its_pod() -> None:
    pods = ("ml_llama-worker-3", "ml_web-5d8f9")
    names = [Path(f"/var/log/pods/{pod}_0b1c2d3e-0000-4000-8000-000000000000/x/0.log") for pod in pods]
    assert [read_name(name).pod for name in names] == ["llama-worker-3", "web-5d8f9"]


def test_the_wrapping_of_kubelet_and_docker_is_taken_off() -> None:
    cri = parse_rank_line("2026-01-31T12:00:00.123456789Z stderr F \x1b[31mRuntimeError\x1b[0m: x")
    assert (cri.text, cri.at and cri.at.isoformat()) == ("RuntimeError: x", "2026-01-31T12:00:00.123456+00:00")
    docker = parse_rank_line('{"log":"hello\\n","stream":"stderr","time":"2026-01-31T12:00:00.1Z"}')
    assert docker.text == "hello"
    assert docker.at is not None


def test_of_an_endless_progress_bar_the_end_counts() -> None:
    record = parse_rank_line("\r".join(f"step: {number}" for number in range(10_000)))
    progress = Progress()
    progress.read(record.text)
    assert progress.step == 9999


@given(st.text(max_size=400))
def test_nothing_raises(text: str) -> None:
    record = parse_rank_line(text)
    Progress().read(record.text)
    parse_rank_line('{"log":' + text)
    read_name(Path("/" + text.replace("\0", "")))
