"""Event patterns: each operator, lists, absent fields, and what moto gets wrong."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.errors import UnsupportedError
from local.aws.events.patterns import check, matches

_EVENT = {
    "source": "aws.ec2",
    "resources": ["arn:aws:ec2:us-east-1:1:instance/i-1", "arn:other"],
    "detail": {
        "state": "Shutting-Down",
        "count": 3,
        "ratio": 0.5,
        "spot": True,
        "reason": None,
        "ip": "10.0.0.7",
        "nodes": [{"name": "gpu-1", "xid": 79}, {"name": "gpu-2", "xid": 13}],
        "empty": {},
    },
}


def _detail(**wanted: Any) -> dict[str, Any]:
    return {"detail": wanted}


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.ec2", "aws.s3"]},
        {"resources": ["arn:other"]},
        {"resources": [{"prefix": "arn:aws:ec2"}]},
        _detail(state=[{"prefix": "Shut"}]),
        _detail(state=[{"prefix": {"equals-ignore-case": "shut"}}]),
        _detail(state=[{"suffix": "Down"}]),
        _detail(state=[{"suffix": {"equals-ignore-case": "DOWN"}}]),
        _detail(state=[{"equals-ignore-case": "shutting-down"}]),
        _detail(state=[{"wildcard": "Sh*-D*n"}]),
        _detail(state=[{"anything-but": "running"}]),
        _detail(state=[{"anything-but": ["running", "pending"]}]),
        _detail(state=[{"anything-but": {"prefix": "run"}}]),
        _detail(state=[{"anything-but": {"suffix": ["ing", "ed"]}}]),
        _detail(state=[{"anything-but": {"equals-ignore-case": ["RUNNING"]}}]),
        _detail(state=[{"anything-but": {"wildcard": "run*"}}]),
        _detail(count=[3]),
        _detail(count=[{"numeric": [">", 0, "<=", 3]}]),
        _detail(ratio=[{"numeric": ["=", 0.5]}]),
        _detail(spot=[True]),
        _detail(reason=[None]),
        _detail(ip=[{"cidr": "10.0.0.0/24"}]),
        _detail(state=[{"exists": True}]),
        _detail(missing=[{"exists": False}]),
        {"detail": {"missing": {"deeper": [{"exists": False}]}}},
        _detail(nodes={"name": ["gpu-2"]}),
        _detail(nodes={"name": ["gpu-2"], "xid": [13]}),
        {"detail": {"$or": [{"state": ["no"]}, {"count": [{"numeric": [">", 2]}]}]}},
    ],
)
def test_it_matches(pattern: dict[str, Any]) -> None:
    check(pattern)
    assert matches(pattern, _EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["aws.s3"]},
        {"source": ["aws.ec2"], "account": ["1"]},
        _detail(spot=[1]),
        _detail(count=[True]),
        _detail(count=["3"]),
        _detail(state=["shutting-down"]),
        _detail(state=[{"prefix": "shut"}]),
        _detail(state=[{"numeric": ["=", 3]}]),
        _detail(spot=[{"numeric": ["=", 1]}]),
        _detail(count=[{"numeric": ["<", 3]}]),
        _detail(state=[{"anything-but": "Shutting-Down"}]),
        _detail(state=[{"anything-but": {"prefix": ["run", "Shut"]}}]),
        _detail(missing=[{"anything-but": "x"}]),
        _detail(missing=[{"exists": True}]),
        _detail(state=[{"exists": False}]),
        _detail(state=[{"wildcard": "Sh*up"}]),
        _detail(ip=[{"cidr": "10.1.0.0/24"}]),
        _detail(state=[{"cidr": "10.1.0.0/24"}]),
        _detail(nodes={"name": ["gpu-1"], "xid": [13]}),
        {"detail": {"$or": [{"state": ["no"]}, {"count": [4]}]}},
    ],
)
def test_it_does_not_match(pattern: dict[str, Any]) -> None:
    assert not matches(pattern, _EVENT)


def test_an_unknown_operator_is_refused_wherever_it_stands() -> None:
    with pytest.raises(UnsupportedError, match="sounds-like"):
        check({"detail": {"$or": [{"state": ["x"]}, {"state": [{"sounds-like": "x"}]}]}})


_texts = st.text(alphabet="ab*\\", max_size=6)


@given(text=_texts)
def test_a_wildcard_without_stars_means_equality(text: str) -> None:
    escaped = text.replace("\\", "\\\\").replace("*", "\\*")
    assert matches({"a": [{"wildcard": escaped}]}, {"a": text})
    assert not matches({"a": [{"wildcard": escaped}]}, {"a": text + "a"})


@given(value=st.one_of(st.text(max_size=5), st.integers(), st.booleans(), st.none()))
def test_a_value_matches_itself_and_anything_but_does_not(value: Any) -> None:
    assert matches({"a": [value]}, {"a": value})
    assert not matches({"a": [{"anything-but": [value]}]}, {"a": value})
