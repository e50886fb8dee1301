"""Figures leave as one EMF line an invocation, remarks as JSON lines; nothing told is nothing written."""

import io
import json
import sys
from typing import Any

import pytest

from functions.adapters.telemetry import MOST_SAMPLES, PowertoolsTelemetry


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.readouterr().out.splitlines()]


@pytest.fixture
def telemetry(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> PowertoolsTelemetry:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", request.node.name)
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Relight")
    return PowertoolsTelemetry()


def test_counters_add_up_in_the_line_that_infra_looks_for(
    telemetry: PowertoolsTelemetry, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    with telemetry.flushed():
        telemetry.count("RecordsRejected", 2)
        telemetry.count("RecordsRejected")
        telemetry.measure_seconds("CanaryAge", 1.5)
        telemetry.measure_seconds("CanaryAge", 2.5)
    (line,) = lines(capsys)
    (told,) = line["_aws"]["CloudWatchMetrics"]
    assert (told["Namespace"], told["Dimensions"], line["service"]) == (
        "Relight",
        [["service"]],
        request.node.name,
    )
    assert (line["RecordsRejected"], line["CanaryAge"]) == ([3.0], [1.5, 2.5])


def test_nothing_told_is_nothing_written_and_nothing_carried_over(
    telemetry: PowertoolsTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    with telemetry.flushed():
        telemetry.count("A")
    capsys.readouterr()
    with telemetry.flushed():
        pass
    assert lines(capsys) == []


def test_what_was_told_before_a_failure_is_not_lost(
    telemetry: PowertoolsTelemetry, capsys: pytest.CaptureFixture[str]
) -> None:
    telemetry.count("A")
    with pytest.raises(ZeroDivisionError), telemetry.flushed():
        _ = 1 / 0
    assert lines(capsys)[0]["A"] == [1.0]


def test_a_flood_of_samples_stays_one_line(telemetry: PowertoolsTelemetry, capsys: pytest.CaptureFixture[str]) -> None:
    with telemetry.flushed():
        for _event in range(5000):
            telemetry.measure_seconds("SeenToDecided", 1.0)
    (line,) = lines(capsys)
    assert len(line["SeenToDecided"]) == MOST_SAMPLES


def test_a_remark_keeps_its_fields_whatever_they_are_called(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Powertools keeps one handler a service, on the stdout of its first use: so here, with a service of its own.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "remarks")
    PowertoolsTelemetry().warn("rejected", id="x", message="its own", service="other")
    (line,) = lines(capsys)
    assert (line["level"], line["message"], line["id"]) == ("WARNING", "rejected", "x")
    assert (line["about_message"], line["about_service"], line["service"]) == ("its own", "other", "remarks")


@pytest.mark.parametrize("namespace", [None, ""])
def test_without_a_namespace_figures_go_where_alarms_look(
    namespace: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("POWERTOOLS_METRICS_NAMESPACE", raising=False)
    if namespace is not None:
        monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", namespace)
    telemetry = PowertoolsTelemetry()
    with telemetry.flushed():
        telemetry.count("A")
    assert lines(capsys)[0]["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Relight"


class Full(io.StringIO):
    """A disk with no space left."""

    def write(self, text: str, /) -> int:
        raise OSError(28, f"No space left for {len(text)} characters")


@pytest.mark.parametrize("name", ["A", ""])
def test_what_cannot_be_told_fails_nothing_and_is_not_carried_over(
    name: str, telemetry: PowertoolsTelemetry, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Full())
        with telemetry.flushed():
            telemetry.count(name)
    capsys.readouterr()
    with telemetry.flushed():
        telemetry.count("B")
    (line,) = lines(capsys)
    assert (line["B"], "A" in line) == ([1.0], False)
