import subprocess
import sys
from pathlib import Path

import pytest

from agent.identity import InstanceMetadata
from agent.main import agent_version, find_region
from agent.settings import Settings
from policies.contract.errors import SettingsError

ROOT = Path(__file__).parents[3]
NOBODY = InstanceMetadata("http://127.0.0.1:1")


def settings(region: str = "") -> Settings:
    return Settings.model_validate({"cluster": "c", "stream": "s", "region": region})


def test_reading_never_waits_for_the_sdk() -> None:
    script = "import agent.main, sys; print(sorted({'boto3', 'botocore', 'asyncio'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("setting", "environ", "expected"),
    [
        ("eu-west-1", {"AWS_REGION": "us-east-1"}, "eu-west-1"),
        ("", {"AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-west-2"}, "us-east-1"),
        ("", {"AWS_DEFAULT_REGION": "us-west-2"}, "us-west-2"),
    ],
)
def test_the_region_is_the_nearest_word_about_it(setting: str, environ: dict[str, str], expected: str) -> None:
    assert find_region(settings(setting), environ, NOBODY) == expected


def test_no_region_says_which_setting_to_set() -> None:
    with pytest.raises(SettingsError, match="RELIGHT_AGENT_REGION"):
        find_region(settings(), {}, NOBODY)


def test_the_version_is_the_installed_one() -> None:
    assert agent_version()
