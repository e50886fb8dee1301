import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.follow.suppressed import parse_suppressed


@pytest.mark.parametrize(
    ("text", "lost", "by"),
    [
        ("net_ratelimit: 812 callbacks suppressed", 812, "net_ratelimit"),
        ("pcieport_aer: 12 callbacks suppressed", 12, "pcieport_aer"),
        ("printk: 42 messages suppressed.", 42, "printk"),
        ("Suppressed 4711 messages from containerd.service", 4711, "containerd.service"),
        ("Missed 9 kernel messages", 9, None),
        ("imjournal: 1234 messages lost due to rate-limiting (20000 allowed within 600 seconds)", 1234, None),
    ],
)
def test_whoever_left_lines_out_says_how_many(text: str, lost: int, by: str | None) -> None:
    (gap,) = parse_suppressed(text, "kernel_log")
    expected = {"reason": "rate_limited", "of": "kernel_log", "lost": lost} | ({"by": by} if by else {})
    assert (gap.kind, dict(gap.attributes)) == ("pipeline.gap", expected)


@pytest.mark.parametrize(
    "text", ["kauditd_printk_skb: 47 callbacks suppressed", "Missed call", "callbacks suppressed", "rate-limiting on"]
)
def test_what_hides_no_fault_is_no_gap(text: str) -> None:
    assert parse_suppressed(text, "kernel_log") == []


@given(st.text())
def test_nothing_raises(text: str) -> None:
    parse_suppressed(f"Suppressed {text} messages suppressed", "kernel_log")
