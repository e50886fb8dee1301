"""What nodes say of their jobs is kept at most once a minute a job; the newest word wins, and nothing waits for it."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from itertools import permutations

from functions.ports.facts import FactKey
from functions.ports.progress import Word
from functions.triage.facts import FactBook
from functions.triage.progress import KEPT, ProgressBook
from functions.twins.facts import MemoryFacts
from functions.twins.progress import MemoryProgress
from functions.twins.triage import MemoryTelemetry
from policies.contract.envelope import Envelope
from policies.contract.errors import DependencyError
from policies.contract.events import JobRef
from policies.contract.progress import JobProgress
from policies.contract.vocabulary import Source
from policies.facts.job import LONGEST_KEY, Progress
from tests.tools.envelopes import at, envelope, event
from tests.tools.policy_table import in_force
from tests.tools.triage_bench import Bench

KEY = FactKey("c", "job", "train/llama")


def heartbeat(step: int, *, job: str = "train/llama", **more: object) -> Envelope:
    told = JobProgress.model_validate({"id": job, "step": step, "alive": True, **more})
    return envelope().model_copy(update={"jobs": (told,)})


class Kept:
    """Triage with a table of facts, and what stands in it."""

    def __init__(self, **more: object) -> None:
        self.facts = MemoryFacts()
        self.writer = MemoryProgress(self.facts)
        self.bench = Bench(progress=ProgressBook(self.facts, self.writer), **more)

    def another_worker(self) -> None:
        """Let a worker go on that has heard nothing yet."""
        self.bench.ports |= {"progress": ProgressBook(self.facts, self.writer)}
        self.bench.triage = self.bench.worker()

    def hear(self, seconds: float, *envelopes: Envelope) -> None:
        self.bench.now = at(seconds)
        assert self.bench.take(*envelopes, arrived=seconds) == []

    @property
    def document(self) -> Progress:
        return Progress.model_validate_json(self.facts.texts[KEY])


def test_ages_become_moments_by_the_pipeline_s_clock() -> None:
    kept = Kept()
    kept.hear(100, heartbeat(9100, saved_step=9000, saved_ago=40.0, save_seconds=600.0, moved_ago=1.5, value=2))
    told = kept.document
    assert (told.at, told.saved_at) == (at(100), at(60))
    assert (told.step, told.saved_step, told.save_seconds, told.value, told.alive) == (9100, 9000, 600.0, 2, True)
    assert kept.facts.expires[KEY] == at(100) + KEPT


def test_at_most_one_write_a_minute_a_job() -> None:
    kept = Kept()
    for second in range(0, 601, 30):
        kept.hear(second, heartbeat(second), heartbeat(second, job="train/other"))
    assert kept.writer.writes == 2 * 11
    assert len(kept.facts.reads) == 11


def test_the_newest_word_wins_in_whatever_order_workers_write() -> None:
    words = [(0, heartbeat(1, saved_step=1, saved_ago=5.0)), (70, heartbeat(2)), (140, heartbeat(3))]
    for order in permutations(words):
        kept = Kept()
        for second, word in order:
            kept.another_worker()
            kept.hear(second, word)
        assert (kept.document.step, kept.document.at) == (3, at(140))


def test_a_run_that_was_started_again_keeps_the_newest_save() -> None:
    kept = Kept()
    kept.hear(0, heartbeat(9100, saved_step=9000, saved_ago=40.0))
    kept.hear(100, heartbeat(9001))
    assert (kept.document.step, kept.document.saved_step, kept.document.saved_at) == (9001, 9000, at(-40))


def test_what_was_sent_again_from_the_rejects_or_tells_of_the_node_from_outside_says_nothing() -> None:
    kept = Kept()
    redriven = heartbeat(1).model_copy(update={"spool_id": "redrive-1"})
    outside = event(0).model_copy(update={"source": Source.EC2})
    kept.hear(0, redriven, heartbeat(1).model_copy(update={"events": (outside,)}))
    kept.hear(0, heartbeat(1, job="é" * (LONGEST_KEY // 2 + 1)))
    assert kept.facts.texts == {}


def test_a_table_that_takes_no_write_stops_nothing() -> None:
    class Broken(MemoryFacts):
        def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
            raise DependencyError("throttled.", hint="")

    class BrokenWriter:
        def keep_newest(self, words: Mapping[FactKey, Word]) -> Mapping[FactKey, DependencyError]:
            return dict.fromkeys(words, DependencyError("throttled.", hint=""))

    for book in (ProgressBook(Broken(), BrokenWriter()), ProgressBook(MemoryFacts(), BrokenWriter())):
        bench = Bench(progress=book)
        fault = heartbeat(1).model_copy(update={"events": (event(0),)})
        assert bench.take(fault) == []
        assert bench.telemetry.counts["ProgressNotWritten"] == 1
        assert len(bench.finding_ids) == 1


def test_a_job_that_takes_no_write_keeps_none_from_the_others_and_is_written_when_it_can_be() -> None:
    kept = Kept()
    other = KEY._replace(subject="train/other")
    kept.writer.failing = {KEY}
    kept.hear(0, heartbeat(1), heartbeat(1, job="train/other"))
    assert set(kept.facts.texts) == {other}
    assert kept.bench.telemetry.counts["ProgressNotWritten"] == 1
    kept.writer.failing = set()
    kept.hear(30, heartbeat(2), heartbeat(2, job="train/other"))
    assert kept.document.step == 2
    assert kept.writer.writes == 2


def test_a_document_that_nobody_can_read_is_written_over() -> None:
    kept = Kept()
    kept.facts.texts[KEY] = "{"
    kept.hear(0, heartbeat(7))
    assert kept.document.step == 7


def test_what_a_node_said_is_what_a_policy_is_answered() -> None:
    document = {
        "name": "lost-gpu",
        "mode": "active",
        "why": "for a test",
        "when": 'event.kind == "gpu.xid" && event.attributes.xid == 79',
        "unless": "job.minutes_since_checkpoint > 120",
        "do": ["isolate"],
    }
    found = {}
    for minutes in (20, 2400):
        kept = Kept(policies=in_force([document]))
        kept.bench.ports |= {"facts": FactBook(kept.facts, MemoryTelemetry())}
        kept.another_worker()
        kept.hear(0, heartbeat(9100, saved_step=9000, saved_ago=minutes * 60.0))
        kept.hear(30, envelope(event(0, 30, job=JobRef(id="train/llama"))))
        found[minutes] = [one.facts for message in kept.bench.decisions.sent for one in message.findings]
    assert found[2400] == []
    (facts,) = found[20]
    assert facts["job.minutes_since_checkpoint"] == 20.5
    assert timedelta(seconds=float(facts["facts.age_seconds"])) == timedelta(seconds=30)
