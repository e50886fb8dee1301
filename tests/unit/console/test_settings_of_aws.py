"""What a terminal's settings for AWS may be at three in the morning: each command says what is wrong with them."""

from pathlib import Path

import pytest

from console.main import main
from tests.tools.envelopes import SHIPPED

COMMANDS = (
    ("policy", "list", "--table", "t"),
    ("policy", "show", "any", "--table", "t"),
    ("policy", "push", str(SHIPPED / "capacity-expiring.yaml"), "--table", "t"),
    ("policy", "report"),
    ("policy", "record", "4be1"),
    ("policy", "record", "4be1", "--events", "s3://bucket"),
    ("policy", "explain", "--incident", "4be1"),
    ("policy", "backtest", "--events", "s3://bucket"),
    ("archive", "stats"),
    ("archive", "stats", "s3://bucket/prefix"),
    ("archive", "pull", "somewhere"),
    ("incident", "list"),
    ("incident", "show", "4be1"),
    ("node", "maintenance"),
    ("node", "commands", "i-0abc"),
    ("dlq", "list"),
    ("checkpoints", "inspect", "s3://bucket/run"),
)
NO_KEYS: dict[str, str | None] = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None}
SSO = """
[default]
sso_session = ours
sso_account_id = 123456789012
sso_role_name = on-call
[sso-session ours]
sso_region = us-east-1
sso_start_url = https://127.0.0.1:9/start
"""
WRONG: dict[str, tuple[dict[str, str | None], str, str]] = {
    "a profile that is not there": ({"AWS_PROFILE": "nope"}, "", "AWS_PROFILE"),
    "half of a key": ({"AWS_SECRET_ACCESS_KEY": None}, "", "AWS_SECRET_ACCESS_KEY"),
    "nobody signed in": (NO_KEYS, "", "Sign in first"),
    "nobody signed in by SSO": (NO_KEYS, SSO, "Sign in first"),
    "a config that is none": ({}, "[default\nx", "~/.aws/config"),
    "a region that is none": ({"AWS_REGION": "eu west"}, "", "AWS_REGION, written right"),
    "a port that is none": (
        {"AWS_ENDPOINT_URL": "http://127.0.0.1:abc"},
        "",
        "AWS_ENDPOINT_URL is 'http://127.0.0.1:abc'",
    ),
    "a port beyond all": ({"AWS_ENDPOINT_URL": "http://127.0.0.1:99999"}, "", "a port from 0 to 65535"),
    "half of an address": ({"AWS_ENDPOINT_URL": "http://[::1"}, "", "no URL with a host"),
    "an address of one service": ({"AWS_ENDPOINT_URL_S3": "nowhere"}, "", "AWS_ENDPOINT_URL_S3 is 'nowhere'"),
    "an address in a file": (
        {"AWS_ENDPOINT_URL": None},
        "[default]\nendpoint_url = http://127.0.0.1:x\n",
        "endpoint_url of ~/.aws/config is 'http://127.0.0.1:x'",
    ),
    "an address of one service in a file": (
        {},
        "[default]\nservices = ours\n[services ours]\ndynamodb =\n  endpoint_url = http:///\n",
        "endpoint_url of ~/.aws/config for dynamodb is 'http:///'",
    ),
    "a program for keys that prints none": (
        NO_KEYS,
        "[default]\ncredential_process = /bin/echo hello\n",
        "prints JSON",
    ),
    "a program for keys that prints a list": (NO_KEYS, "[default]\ncredential_process = /bin/echo []\n", "prints JSON"),
    "half of a program for keys": (
        NO_KEYS,
        '[default]\ncredential_process = "/bin/echo\n',
        "cannot be had: No closing",
    ),
    "keys from anywhere": (
        {**NO_KEYS, "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://example.com/keys"},
        "",
        "cannot be had: Unsupported host 'example.com'",
    ),
    "a time that is no number": ({**NO_KEYS, "AWS_METADATA_SERVICE_TIMEOUT": "soon"}, "", "begin with AWS_"),
    "nobody there": ({}, "", "Run it again"),
}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A terminal whose calls end at once: nobody listens where they go, and each is made once."""
    config = tmp_path / "config"
    config.touch()
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
        "AWS_CONFIG_FILE": str(config),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setattr("console.aws.TRIES", 1)
    monkeypatch.chdir(tmp_path)
    return config


@pytest.mark.parametrize("wrong", WRONG)
def test_every_command_says_what_is_wrong_and_what_to_do(
    wrong: str, elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, config, told = WRONG[wrong]
    elsewhere.write_text(config)
    for name, value in settings.items():
        if value is None:
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, value)
    for words in COMMANDS:
        assert main(words) == 1, words
        shown = capsys.readouterr()
        assert shown.out == "", words
        assert told in shown.err, words
        assert shown.err.startswith(f"relight {words[0]}: "), words
        assert len(shown.err.splitlines()) == 1, shown.err
