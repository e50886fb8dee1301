import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.dlq.redaction import safe_text

TOKEN = "AQCEAAAAKgAAAAMAAAAAAAAAAc3VwZXJzZWNyZXQ"
NAMES = ["task_token", "TaskToken", "X-Amz-Security-Token", "password", "client_secret", "Authorization", "api_key"]


@pytest.mark.parametrize("name", NAMES)
def test_the_value_of_a_secret_name_is_cut_wherever_it_stands(name: str) -> None:
    for text in (
        json.dumps({name: TOKEN}),
        json.dumps({"deep": [{"er": {name: TOKEN}}]}),
        json.dumps({"body": json.dumps({name: TOKEN})}),
        f'not json: "{name}": "{TOKEN}" and more',
        f"{name}={TOKEN} step=4",
        json.dumps({"message": f"{name}: {TOKEN}"}),
    ):
        assert TOKEN not in safe_text(text)
        assert "(cut)" in safe_text(text)


def test_a_half_written_message_keeps_its_token_to_itself() -> None:
    cut = json.dumps({"type": "ask", "task_token": TOKEN, "step": 3})[:-4]
    assert TOKEN not in safe_text(cut)


def test_keys_of_aws_and_bearers_are_cut() -> None:
    shown = safe_text("id AKIAIOSFODNN7EXAMPLE, Bearer abcdefghijklmnop.qrst")
    assert "AKIAIOSFODNN7EXAMPLE" not in shown
    assert "abcdefghijklmnop" not in shown


def test_what_is_no_secret_stays() -> None:
    body = json.dumps({"incident": "4be1", "tokens_per_second": 1200, "message": "NVRM: Xid (PCI:0000:17:00): 79"})
    assert safe_text(body) == body


def test_control_characters_cannot_move_the_cursor() -> None:
    assert safe_text("a\x1b[2Jb\nc\x07") == "a\\x1b[2Jb\\nc\\x07"


def test_a_long_text_is_cut_and_says_so() -> None:
    assert safe_text("x" * 50, 10) == "x" * 10 + "…"


def test_very_deep_json_does_not_fail() -> None:
    assert safe_text("[" * 5_000 + "]" * 5_000, 5)
    assert "(cut)" in safe_text("[" * 60 + "1" + "]" * 60)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda deeper: st.lists(deeper) | st.dictionaries(st.text(), deeper)
    )
)
def test_any_json_around_a_token_hides_it(around: object) -> None:
    assert TOKEN not in safe_text(json.dumps({"around": around, "task_token": TOKEN, "more": [around]}))


@given(st.text())
def test_nothing_makes_it_raise_or_print_controls(text: str) -> None:
    assert all(letter.isprintable() for letter in safe_text(text))
