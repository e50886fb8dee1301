import json

import pytest

from relight_training.header import Header, describe, encode

KUBERNETES = {"KUBERNETES_SERVICE_HOST": "10.0.0.1"}


@pytest.mark.parametrize(
    ("environ", "told"),
    [
        ({}, {}),
        ({"RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16"}, {"rank": 9, "local_rank": 1, "world_size": 16}),
        (
            {"SLURM_JOB_ID": "812", "SLURM_PROCID": "3", "SLURM_LOCALID": "3", "SLURM_NTASKS": "64"},
            {"job": "812", "orchestrator": "slurm", "rank": 3, "local_rank": 3, "world_size": 64},
        ),
        ({"SLURM_JOB_ID": "812", "SLURM_PROCID": "0", "RANK": "5"}, {"job": "812", "orchestrator": "slurm", "rank": 5}),
        (
            {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_LOCAL_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"},
            {"rank": 2, "local_rank": 0, "world_size": 4},
        ),
        (
            {"TRAINING_JOB_NAME": "llama-r01", "SM_HOSTS": '["algo-1"]', "RANK": "0"},
            {"job": "llama-r01", "orchestrator": "sagemaker", "rank": 0},
        ),
        (
            {**KUBERNETES, "HOSTNAME": "llama-7b-worker-3", "POD_NAMESPACE": "training", "RANK": "25"},
            {
                "job": "training/llama-7b",
                "orchestrator": "eks",
                "rank": 25,
                "pod": "llama-7b-worker-3",
                "namespace": "training",
            },
        ),
        (
            {**KUBERNETES, "HOSTNAME": "renamed", "MASTER_ADDR": "llama-master-0.research.svc.cluster.local"},
            {"job": "research/llama", "orchestrator": "eks", "pod": "renamed"},
        ),
        (
            {**KUBERNETES, "PET_RDZV_ENDPOINT": "llama-worker-0:23456", "POD_NAMESPACE": "a", "POD_NAME": "p"},
            {"job": "a/llama", "orchestrator": "eks", "pod": "p", "namespace": "a"},
        ),
        ({**KUBERNETES, "HOSTNAME": "llama-worker-3"}, {"pod": "llama-worker-3"}),
        ({"HOSTNAME": "desk-worker-3", "POD_NAMESPACE": "a"}, {}),
        (
            {**KUBERNETES, "RELIGHT_JOB": "a/b", "HOSTNAME": "llama-worker-3", "TRAINING_JOB_NAME": ""},
            {"job": "a/b", "orchestrator": "eks", "pod": "llama-worker-3"},
        ),
        ({"RELIGHT_JOB": "a/b", "RELIGHT_ORCHESTRATOR": "slurm"}, {"job": "a/b", "orchestrator": "slurm"}),
        ({"RELIGHT_CHECKPOINTS": "s3://b/run"}, {"checkpoint": "s3://b/run"}),
        ({"RELIGHT_JOB_VALUE": "12"}, {"value": 12.0}),
        ({"RELIGHT_JOB_VALUE": "nan"}, {}),
        ({"RELIGHT_JOB_VALUE": "-1"}, {}),
        ({"RELIGHT_JOB_VALUE": "dear"}, {}),
        ({"RANK": "-1", "LOCAL_RANK": "", "WORLD_SIZE": "9" * 30}, {}),
    ],
)
def test_the_launchers_environment_tells_who_this_is(environ: dict[str, str], told: Header) -> None:
    assert describe(environ) == told


def test_the_namespace_of_the_service_account_is_the_pods() -> None:
    told = describe({**KUBERNETES, "HOSTNAME": "llama-master-0"}, "training\n")
    assert (told["job"], told["namespace"]) == ("training/llama", "training")


def test_the_header_fits_whatever_the_environment_holds() -> None:
    hostile = dict.fromkeys(("RELIGHT_JOB", "RELIGHT_CHECKPOINTS", "POD_NAME", "POD_NAMESPACE"), "\N{FIRE}" * 10_000)
    text = encode({"pid": 1, **describe({**KUBERNETES, **hostile})})
    assert json.loads(text) == {"pid": 1, "orchestrator": "eks"}
    largest = {"job": 317, "checkpoint": 1024, "pod": 253, "namespace": 253}
    text = encode({"pid": 1, **{name: "\N{FIRE}" * length for name, length in largest.items()}})
    assert len(text) <= 4096 - 512
    assert json.loads(text)["job"] == "\N{FIRE}" * 317


def test_bytes_that_are_no_text_do_no_harm() -> None:
    assert json.loads(encode({"job": b"a\xff".decode("utf-8", "surrogateescape")})) == {"job": "a?"}
