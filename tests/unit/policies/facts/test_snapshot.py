"""Facts never raise: what was not read, or says nothing, is unknown, and an age is that of the oldest that was read."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from policies.contract.events import FaultEvent, JobRef, Scalar
from policies.contract.vocabulary import Kind
from policies.facts.capacity import Capacity
from policies.facts.fact import FactType
from policies.facts.registry import AGE, DOCUMENTS, FACTS, documents_of
from policies.facts.snapshot import NOTHING_KNOWN, ReadDocument, ReadFacts, StatedFacts, told
from tests.tools.envelopes import NOW, event, node

JUNK = st.text(max_size=40) | st.sampled_from(["", "{}", "[]", "null", '{"cluster": 3}', '{"until": "x", "at": 1e999}'])
TEXTS = st.dictionaries(st.sampled_from(sorted(DOCUMENTS)), st.none() | JUNK)
EVENTS = st.builds(
    event,
    kind=st.sampled_from([Kind.GPU_XID, Kind.NODE_SILENT]),
    xid=st.sampled_from([None, 119]),
    job=st.none() | st.just(JobRef(id="train/a")),
)


def subject_of(name: str, asked: FaultEvent) -> str:
    return DOCUMENTS[name].subject(asked, node()) or ""


@given(TEXTS, EVENTS, st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)))  # noqa: DTZ001 - made aware below
def test_whatever_stands_in_a_document_no_fact_raises(
    texts: dict[str, str | None], asked: FaultEvent, at: datetime
) -> None:
    now = at.replace(tzinfo=NOW.tzinfo)
    documents: dict[tuple[str, str], ReadDocument] = {}
    for name, text in texts.items():
        try:
            read = None if text is None else DOCUMENTS[name].parse(text)
        except ValueError:  # all that `parse` may raise
            continue
        documents[name, subject_of(name, asked)] = ReadDocument(read, now)
    facts = ReadFacts(documents, now)
    known = told(facts, sorted(FACTS), asked, node())
    assert all(FACTS[member].holds(value) for member, value in known.items())
    assert documents_of(known) <= {name for name, _subject in documents}


@given(
    st.dictionaries(
        st.text(max_size=20) | st.sampled_from(sorted(FACTS)),
        st.text(max_size=9) | st.integers() | st.booleans() | st.floats(),
    )
)
def test_whatever_is_stated_no_fact_raises(stated: dict[str, Scalar]) -> None:
    told(StatedFacts(stated), sorted(FACTS), event(), node())


def test_an_age_is_that_of_the_oldest_document_that_was_read() -> None:
    later = NOW + timedelta(seconds=40)
    documents = {
        ("capacity", ""): ReadDocument(Capacity(at=NOW), later),
        ("history", "i-1"): ReadDocument(None, later - timedelta(seconds=4)),
    }
    facts = ReadFacts(documents, later)
    ages = [facts.age(names, event(), node()) for names in (["history"], ["capacity", "history"], ["job"])]
    assert ages == [4.0, 40.0, None]
    assert NOTHING_KNOWN.age(["history"], event(), node()) is None


def test_every_fact_has_its_root_its_type_and_a_line_and_no_member_is_answered_twice() -> None:
    named = [fact.member for each in DOCUMENTS.values() for fact in each.facts]
    assert len(named) == len(set(named)) == len(FACTS) - 1
    assert {member.partition(".")[0] for member in FACTS} == {"node", "job", "neighbours", "capacity", "facts"}
    assert all(fact.says and fact.type in FactType for fact in FACTS.values())
    assert AGE in FACTS
