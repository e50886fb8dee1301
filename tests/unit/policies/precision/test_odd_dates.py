"""Whatever moments an act, a finding and a restart tell, they are judged: nobody's figures break."""

from datetime import UTC, datetime, timedelta

from hypothesis import example, given
from hypothesis import strategies as st

from policies.contract.vocabulary import Kind
from policies.moments import FIRST, LAST
from policies.precision.misses import Misses, Restart, misses_of, with_restarts
from policies.precision.record import Act, Record, with_act, with_grounds
from policies.precision.restarts import Evidence, with_evidence
from policies.precision.signs import AWS_WITHIN, Sign, heard
from policies.precision.verdicts import precision_of, verdict_of

MOMENT = st.datetimes(timezones=st.just(UTC)) | st.sampled_from((FIRST, LAST))


@example(LAST, LAST, LAST, LAST)
@example(FIRST, FIRST, LAST, FIRST)
@given(MOMENT, MOMENT, MOMENT, MOMENT)
def test_an_act_of_any_date_is_judged(at: datetime, changed: datetime, said: datetime, now: datetime) -> None:
    act = Act(incident="1", at=at, node="i-1", generation="g", changed_at=changed, verified_at=changed)
    record = with_act(Record(cluster="c", policy="p"), act, now)
    found = heard(record, [Sign("p", kind, "i-1", "g", said) for kind in (Kind.GPU_XID, Kind.INSTANCE_STATUS_IMPAIRED)])
    judged = with_grounds(record, found)
    assert precision_of(judged, now).acts == len(judged.acts) <= 1
    verdict_of(act, now)
    if judged.acts:
        assert any(ground.grade == "aws" for _, ground in found) == (timedelta() < said - at <= AWS_WITHIN)


@example(LAST, LAST, LAST)
@example(FIRST, FIRST, FIRST)
@given(MOMENT, MOMENT, MOMENT)
def test_a_restart_of_any_date_is_a_miss_or_none(at: datetime, seen: datetime, now: datetime) -> None:
    restart = Restart(id="1", job="run", node="i-1", kind="job.failed", at=at)
    evidence = Evidence("p", Kind.GPU_XID, "i-1", "run", seen, seen, now, late=False)
    kept = with_restarts(Misses(cluster="c"), [with_evidence(restart, evidence)], now)
    assert len(misses_of(kept, now)) <= 1
