"""The whole stack, with its trail, deployed once into an embedded AWS, and `relight` talking to it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.synth import own_copy
from local.aws.deploy import deploy
from local.aws.server import EmbeddedAws
from local.demo.cluster import STACK
from tests.integration.console.deployed import ON_CALL, Deployed, Relight
from tests.tools.trail_stack import ASSEMBLY, SETTINGS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    assembly = own_copy(ASSEMBLY, tmp_path_factory.mktemp("app") / "cdk.out", settings=SETTINGS)
    with EmbeddedAws(tmp_path_factory.mktemp("aws"), code_root=ROOT) as aws:
        outputs = deploy(aws, assembly=assembly, stack=STACK)
        yield Deployed(aws, outputs)


@pytest.fixture
def relight(deployed: Deployed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Relight:
    for name, value in deployed.aws.environment(ON_CALL).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    return Relight(capsys)


@pytest.fixture
def eventually() -> Callable[[Callable[[], Any]], Any]:
    """What `look` says as soon as it is true; fails with its last word."""

    def wait(look: Callable[[], Any], within: float = 120.0) -> Any:  # noqa: ANN401 - whatever look says
        deadline = time.monotonic() + within
        while not (value := look()):
            assert time.monotonic() < deadline, f"not within {within} s; last: {value!r}"
            time.sleep(0.05)
        return value

    return wait
