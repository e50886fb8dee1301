"""How jobs go: the twin and DynamoDB keep the same promises."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.facts import DynamoFacts
from functions.adapters.progress import DynamoProgress
from functions.ports.facts import FactKey, FactReader
from functions.ports.progress import ProgressWriter
from functions.twins.facts import MemoryFacts
from functions.twins.progress import MemoryProgress
from tests.tools.envelopes import at
from tests.tools.tables import create_tables

ONE, OTHER = FactKey("c", "job", "train/llama"), FactKey("c", "job", "train/other")
LATER = at(0) + timedelta(days=7)


@dataclass(frozen=True)
class Both:
    writer: ProgressWriter
    reader: FactReader


@pytest.fixture(params=["memory", "aws"])
def both(request: pytest.FixtureRequest) -> Iterator[Both]:
    if request.param == "memory":
        facts = MemoryFacts()
        yield Both(MemoryProgress(facts), facts)
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        yield Both(DynamoProgress(client, "fleet"), DynamoFacts(client, "fleet"))


def test_the_newest_word_of_each_job_stays(both: Both) -> None:
    both.writer.keep_newest(ONE, "b", at(60), LATER)
    both.writer.keep_newest(ONE, "a", at(0), LATER)
    both.writer.keep_newest(OTHER, "o", at(0), LATER)
    assert both.reader.read([ONE, OTHER]) == {ONE: "b", OTHER: "o"}
    both.writer.keep_newest(ONE, "c", at(60.5), LATER)
    assert both.reader.read([ONE]) == {ONE: "c"}


def test_the_same_word_twice_is_once(both: Both) -> None:
    both.writer.keep_newest(ONE, "a", at(0), LATER)
    both.writer.keep_newest(ONE, "a", at(0), LATER)
    assert both.reader.read([ONE]) == {ONE: "a"}
