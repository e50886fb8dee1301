"""The outbox's wiring, on moto."""

import boto3
import pytest
from moto import mock_aws

from functions.adapters.telemetry import PowertoolsTelemetry
from functions.outbox import handler


def test_a_batch_without_news_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUS_NAME", "relight")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Relight")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "outbox")
    monkeypatch.setattr(handler, "TELEMETRY", PowertoolsTelemetry())  # it reads these when made
    claim = {"dynamodb": {"SequenceNumber": "3", "NewImage": {"pk": {"S": "INSTANCE#i-1"}, "sk": {"S": "CLAIM"}}}}
    with mock_aws():
        boto3.client("events").create_event_bus(Name="relight")
        handler.wired.cache_clear()
        assert handler.handle({"Records": [claim]}, None) == {"batchItemFailures": []}
    handler.wired.cache_clear()
