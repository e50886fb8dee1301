"""How jobs go: the twin and DynamoDB keep the same promises."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.facts import DynamoFacts
from functions.adapters.progress import DynamoProgress
from functions.ports.facts import FactKey, FactReader
from functions.ports.progress import ProgressWriter, Word
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


def keep(both: Both, key: FactKey, text: str, moment: datetime) -> None:
    assert both.writer.keep_newest({key: Word(text, moment, LATER)}) == {}


def test_of_many_words_each_is_kept_and_none_is_nothing(both: Both) -> None:
    words = {ONE._replace(subject=f"train/{number}"): Word(str(number), at(0), LATER) for number in range(40)}
    assert both.writer.keep_newest(words) == {}
    assert both.reader.read(list(words)) == {key: word.text for key, word in words.items()}
    assert both.writer.keep_newest({}) == {}


def test_a_table_that_is_gone_is_told_of_each_job() -> None:
    with mock_aws():
        failed = DynamoProgress(boto3.client("dynamodb"), "gone").keep_newest(
            {key: Word("a", at(0), LATER) for key in (ONE, OTHER)}
        )
    assert set(failed) == {ONE, OTHER}


def test_the_newest_word_of_each_job_stays(both: Both) -> None:
    keep(both, ONE, "b", at(60))
    keep(both, ONE, "a", at(0))
    keep(both, OTHER, "o", at(0))
    assert both.reader.read([ONE, OTHER]) == {ONE: "b", OTHER: "o"}
    keep(both, ONE, "c", at(60.5))
    assert both.reader.read([ONE]) == {ONE: "c"}


def test_the_same_word_twice_is_once(both: Both) -> None:
    keep(both, ONE, "a", at(0))
    keep(both, ONE, "a", at(0))
    assert both.reader.read([ONE]) == {ONE: "a"}
