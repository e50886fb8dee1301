"""The picture of a back-test: whatever is in it, any browser draws it, and an operator finds what differs."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.moments import FIRST, LAST
from simulator.deeds import Act, Deed, Difference, Matter
from simulator.picture import LEFT, LONGEST_NAME, MOST_ROWS, RIGHT, WIDTH, picture, shortened
from simulator.time_axis import TimeAxis

BEGIN = datetime(2026, 3, 1, 12, 7, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def deed(
    number: int = 0,
    at: datetime = BEGIN,
    lasts: timedelta = HOUR,
    node: str = "",
    job: str = "run",
    *,
    is_open: bool = False,
) -> Deed:
    acts = tuple(Act(rung, at + lasts * share / 4) for share, rung in enumerate(("isolate", "replace_node"), 1))
    ended = None if is_open else at + lasts
    name = node or f"node-{number}"
    return Deed(
        str(number), "f", "c", "g", name, "i", "p5", job, "policy", 3, at, ended, "closed", "recovered", "", acts
    )


def drawn(matters: list[Matter], period: timedelta = DAY) -> ET.Element:
    return ET.fromstring(picture(matters, BEGIN, BEGIN + period))


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter() if each.tag.endswith("}text")]


def bars(root: ET.Element) -> list[ET.Element]:
    return [each for each in root.iter() if each.tag.endswith("}rect") and len(each)]


def test_where_nobody_acts_it_says_so() -> None:
    told = texts(drawn([]))
    assert "Nobody acts in it, neither before nor after." in told
    assert told[0] == "Back-test from 2026-03-01 12:07 to 2026-03-02 12:07 UTC: 0 incidents with acts"


def test_axes_say_what_they_are_and_the_legend_what_is_what_without_a_colour() -> None:
    told = texts(drawn([Matter(None, deed(1)), Matter(deed(2), None), Matter(deed(3), deed(3))]))
    assert {"node, and its run below", "time (UTC), the part in which somebody acts"} <= set(told)
    assert "+ new: only as it would be (1)" in told
    assert "\N{MINUS SIGN} gone: only as it was (1)" in told
    assert "the same (1)" in told
    assert {"+", "\N{MINUS SIGN}"} <= set(told), "beside the bars too"


def test_what_differs_stands_first_and_what_is_the_same_is_left_out_first() -> None:
    same = [Matter(deed(number), deed(number)) for number in range(999)]
    root = drawn([*same, Matter(None, deed(999, at=BEGIN + 20 * HOUR))])
    names = [text for text in texts(root) if text.startswith("node-")]
    assert names[0].startswith("node-999")
    assert len(names) == MOST_ROWS
    assert "; 800 more lines are left out, the table has them" in " ".join(texts(root))


@pytest.mark.parametrize("period", [timedelta(), timedelta(seconds=9), HOUR, DAY, 7 * DAY, 31 * DAY, 365 * DAY])
def test_marks_of_any_period_are_few_round_and_apart(period: timedelta) -> None:
    axis = TimeAxis(BEGIN, BEGIN + period, LEFT, RIGHT)
    marks = list(axis.marks())
    assert len(marks) <= 14
    assert len(marks) >= 4 or period < HOUR
    assert all(LEFT <= mark.x <= RIGHT for mark in marks)
    assert all(after.x - before.x >= 60 for before, after in pairwise(marks))
    assert not marks or marks[0].lower.startswith("2026")


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_there_are_few_marks_between_any_moments(one: datetime, other: datetime) -> None:
    marks = list(TimeAxis(min(one, other), max(one, other), LEFT, RIGHT).marks())
    assert len(marks) <= 14
    assert [mark.x for mark in marks] == sorted(mark.x for mark in marks)


def test_what_takes_minutes_within_a_year_is_seen() -> None:
    matters = [Matter(None, deed(at, BEGIN + at * DAY, timedelta(minutes=3))) for at in range(0, 365, 20)]
    found = bars(drawn(matters, 365 * DAY))
    assert len(found) == len(matters)
    assert all(float(bar.get("width", "0")) >= 4 for bar in found)
    assert all(LEFT <= float(bar.get("x", "0")) <= RIGHT - 4 for bar in found)


def test_what_is_still_open_is_marked() -> None:
    assert "▸+" in texts(drawn([Matter(None, deed(is_open=True))]))


def test_node_and_run_of_usual_length_are_both_told_whole() -> None:
    usual = [("ip-172-31-0-7.ec2.internal", "training/llama-pretrain"), ("ip-10-0-3-17.us-east-2.compute.internal", "")]
    root = drawn([Matter(None, deed(number, node=node, job=job)) for number, (node, job) in enumerate(usual)])
    assert {name for names in usual for name in names if name} <= set(texts(root))
    assert not [text for text in texts(root) if "…" in text]


def test_a_long_name_loses_its_middle_and_is_told_whole_to_who_points_at_it() -> None:
    long = "ip-10-0-3-17.us-gov-east-1.compute.internal.example"
    root = drawn([Matter(None, deed(node=long, job="team/llama-pretraining-17"))])
    (name,) = (text for text in texts(root) if text.startswith("ip-10-0-3-17"))
    assert name.endswith("internal.example")
    assert len(name) == LONGEST_NAME
    assert f"{long} · team/llama-pretraining-17" in [each.text for each in root.iter() if each.tag.endswith("}title")]
    assert [shortened("abcdef", most) for most in (6, 5, 4)] == ["abcdef", "ab…ef", "ab…f"]


def test_colours_differ_in_brightness_too() -> None:
    shown = picture([Matter(None, deed(1)), Matter(deed(2), None), Matter(deed(3), deed(3))], BEGIN, BEGIN + DAY)
    colours = dict.fromkeys(re.findall(r'height="10" fill="#(\w{6})"', shown))
    assert len(colours) == len(Difference)


JUNK = st.text(st.characters(codec=None), max_size=60)
ANY = st.datetimes(timezones=st.just(UTC)) | st.sampled_from((FIRST, LAST))


@settings(max_examples=50)
@given(JUNK, JUNK, ANY, ANY, ANY)
def test_whatever_is_in_it_a_browser_draws_it(
    node: str, job: str, at: datetime, begin: datetime, end: datetime
) -> None:
    odd = deed(1, at, timedelta(), node=node, job=job)
    root = ET.fromstring(picture([Matter(odd, odd), Matter(None, odd)], min(begin, end), max(begin, end)).encode())
    for bar in bars(root):
        assert 0 <= float(bar.get("x", "0")) <= WIDTH
        assert 0 < float(bar.get("width", "0")) <= WIDTH
