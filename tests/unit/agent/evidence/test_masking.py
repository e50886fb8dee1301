import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.evidence.masking import ALLOWED_VARIABLES, allowed_variables, mask, mask_words

SECRETS = st.one_of(
    st.from_regex(r"AKIA[A-Z0-9]{16}", fullmatch=True),
    st.from_regex(r"ghp_[A-Za-z0-9]{36}", fullmatch=True),
    st.from_regex(r"hf_[A-Za-z0-9]{34}", fullmatch=True),
    st.from_regex(r"sk-[A-Za-z0-9]{40}", fullmatch=True),
    st.from_regex(r"[0-9a-f]{40}", fullmatch=True),
    st.from_regex(r"eyJ[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}\.[A-Za-z0-9]{20}", fullmatch=True),
)
NAMES = st.sampled_from(["--api-key", "--token", "--password", "--wandb-key", "--hf_token", "-auth-token"])
PLAIN = st.text("abcdefghijklmnopqrstuvwxyz0123456789._/ ", max_size=30)


@given(SECRETS, PLAIN, PLAIN)
def test_what_looks_like_a_secret_never_stays(secret: str, before: str, after: str) -> None:
    assert secret not in mask(f"{before} {secret} {after}")


@given(NAMES, st.from_regex(r"[A-Za-z0-9!#%&*+,;<>?@^_~]{6,40}", fullmatch=True))
def test_what_stands_behind_a_telling_option_never_stays(name: str, secret: str) -> None:
    assert secret not in " ".join(mask_words(["python", "train.py", name, secret, "--steps", "10"]))
    assert secret not in " ".join(mask_words(["python", "train.py", f"{name}={secret}"]))


@given(st.dictionaries(st.from_regex(r"[A-Z_]{3,20}", fullmatch=True), SECRETS, max_size=5))
def test_of_an_environment_only_the_list_is_told(environ: dict[str, str]) -> None:
    told = allowed_variables(environ)
    assert told.keys() <= ALLOWED_VARIABLES
    assert not [secret for secret in environ.values() if secret in json.dumps(told)]


@pytest.mark.parametrize(
    "text",
    [
        "https://user:hunter2@example.com/x",
        "Authorization: Basic hunter2 hunter2",
        "curl -H 'Authorization: Bearer hunter2'",
        "AWS_SECRET_ACCESS_KEY=hunter2",
        'password: "hunter2 hunter2"',
        "db_password = hunter2",
    ],
)
def test_secrets_in_their_usual_places(text: str) -> None:
    assert "hunter2" not in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "python -m torch.distributed.run --nproc-per-node 8 train.py --lr 3e-4 --steps 100000",
        "[rank3]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1234, OpType=ALLREDUCE)",
        "NVRM: Xid (PCI:0000:4b:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
    ],
)
def test_what_helps_stays(text: str) -> None:
    assert mask(text) == text


def test_the_two_variables_that_say_where_dumps_lie_are_told() -> None:
    told = allowed_variables({"RANK": "3", "TORCH_FR_DUMP_TEMP_FILE": "/tmp/trace_", "WANDB_API_KEY": "x" * 40})
    assert told == {"RANK": "3", "TORCH_FR_DUMP_TEMP_FILE": "/tmp/trace_"}
