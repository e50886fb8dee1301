"""A node's clock is corrected by its sending, and what is old is marked: it may count, not act."""

from tests.tools.envelopes import at, delivery, event, policy, rules
from tests.tools.judging import judge


def test_late_events_count_and_are_marked() -> None:
    old = delivery(event(0, 0), sent=0, arrived=0)
    (finding,) = judge(old, now=16 * 60).findings
    assert finding.late
    (fresh,) = judge(old, now=14 * 60).findings
    assert not fresh.late
    assert fresh.id == finding.id


def test_a_fresh_event_that_completes_an_old_window_is_not_late() -> None:
    book = rules(policy(count={"at_least": 2, "within": "1h", "occurrence": "30s"}))
    old = judge(delivery(event(0, 0)), rulebook=book)
    (finding,) = judge(delivery(event(1, 1800)), rulebook=book, state=old.state, now=1801).findings
    assert (finding.late, finding.window_start) == (False, at(0))


def test_a_clock_that_is_ahead_is_corrected() -> None:
    ahead = delivery(event(0, 3600), sent=3600, arrived=0)
    (finding,) = judge(ahead).findings
    assert finding.observed_at == at(0)


def test_a_clock_that_is_a_little_behind_is_corrected() -> None:
    behind = delivery(event(0, -120), sent=-120, arrived=0)
    assert judge(behind).findings[0].observed_at == at(0)


def test_an_envelope_that_was_kept_for_hours_and_sent_again_stays_old() -> None:
    kept = delivery(event(0, -7200), sent=-7200, arrived=0)
    (finding,) = judge(kept).findings
    assert (finding.observed_at, finding.late) == (at(-7200), True)


def test_absurd_times_are_brought_into_the_calendar() -> None:
    long_ago = event(0).model_copy(update={"observed_at": at(0).replace(year=1)})
    (finding,) = judge(delivery(long_ago, sent=0)).findings
    assert finding.late
    far_off = event(0).model_copy(update={"observed_at": at(0).replace(year=9999)})
    (finding,) = judge(delivery(far_off, sent=0)).findings
    assert finding.observed_at == at(0)
