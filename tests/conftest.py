"""What holds for every test: no account can be reached, and a slow machine is no failure."""

import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from local.aws import model_files

_HERE = Path(__file__).parent
_LONG = {"integration", "soak"}

# Before any test module makes a client: a developer's own profile must never be what a test talks to.
for _name in [name for name in os.environ if name.startswith("AWS_")]:
    del os.environ[_name]
os.environ.update(
    AWS_ACCESS_KEY_ID="testing",
    AWS_SECRET_ACCESS_KEY="testing",
    AWS_DEFAULT_REGION="us-east-1",
    AWS_CONFIG_FILE=os.devnull,
    AWS_SHARED_CREDENTIALS_FILE=os.devnull,
    AWS_EC2_METADATA_DISABLED="true",
    # moto's own list holds 1,300 images; reading and telling it takes a second in each test that asks for one.
    MOTO_AMIS_PATH=str(_HERE.parent / "local" / "aws" / "images.json"),
)
# Each test that makes a client begins with a session of its own, and that with parsing the models.
model_files.parse_once()

# What `nohup`, or a shell's background, has this process ignore, a test sends and must see work: in what it starts too,
# which inherits that a signal is ignored, but no handler. The tests themselves go on as whoever started them wants.
for _number in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda *_: None)

# Two busy cores make single examples slow; what must be fast has a benchmark.
settings.register_profile("relight", deadline=None)
settings.load_profile("relight")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes long where several workers share the files: what is short evens out their end."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: Path(item.path).relative_to(_HERE).parts[0] not in _LONG)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave what was imported out of every later search for garbage: it stays to the end. DynamoDB answers sooner."""
    if "moto.core.serialize" in sys.modules:  # else nobody needs it, and it takes long to load
        from local.aws.patches import dynamodb_answers  # noqa: PLC0415 - as above

        dynamodb_answers.apply()
    gc.collect()
    gc.freeze()
