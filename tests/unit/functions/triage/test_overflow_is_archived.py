"""What comes by overflow is read by triage alone, so triage keeps it: judged first of all, kept before it is gone."""

import pytest

from functions.archive.keeping import Keeper
from functions.place_book import PlaceBook
from functions.triage.records import read_records
from functions.twins.archive import MemoryArchive
from functions.twins.topology import MemoryTopology
from functions.twins.triage import MemoryNodeStates
from policies.contract.errors import DependencyError
from tests.tools.envelopes import envelope, event, kinesis_event, sqs_event
from tests.tools.faulty_ports import LosesAnswers
from tests.tools.triage_bench import Bench

BODY = envelope(event(0)).to_json()


class Refuses(MemoryArchive):
    """Takes nothing while ``down``."""

    down = True

    def put(self, key: str, body: bytes) -> None:
        if self.down:
            raise DependencyError("S3 is down.")
        super().put(key, body)


def keeper(archive: object) -> Keeper:
    return Keeper(archive, PlaceBook(MemoryTopology()))  # type: ignore[arg-type]


def test_overflow_is_kept_and_the_stream_which_has_its_own_reader_is_not() -> None:
    archive = MemoryArchive()
    bench = Bench(archive=keeper(archive))
    bench.triage.handle(read_records(kinesis_event(BODY.encode())))
    assert archive.objects == {}
    assert bench.triage.handle(read_records(sqs_event(BODY, "junk", names=["m-1", "m-2"]))) == []
    [key] = archive.objects
    assert "-overflow-" in key


def test_overflow_that_cannot_be_kept_is_judged_at_once_and_comes_again_to_be_kept() -> None:
    archive = Refuses()
    bench = Bench(archive=keeper(archive))
    told = read_records(sqs_event(BODY, "junk", names=["m-1", "m-2"]))
    assert bench.triage.handle(told) == ["m-1", "m-2"]
    assert len(bench.finding_ids) == 1
    assert bench.telemetry.counts["OverflowNotArchived"] == 2
    archive.down = False
    assert bench.triage.handle(told) == []
    assert len(archive.objects) == 1
    assert len(set(bench.finding_ids)) == 1


def test_overflow_is_kept_before_it_is_committed() -> None:
    archive = MemoryArchive()
    bench = Bench(archive=keeper(archive), states=LosesAnswers(MemoryNodeStates(), "commit"))
    told = read_records(sqs_event(BODY, names=["m-1"]))
    with pytest.raises(DependencyError):
        bench.triage.handle(told)
    assert len(archive.objects) == 1
    bench.triage.handle(told)
    assert len(archive.objects) == 1
