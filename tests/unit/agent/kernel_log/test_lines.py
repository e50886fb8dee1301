from hypothesis import given
from hypothesis import strategies as st

from agent.kernel_log.lines import LINE_LIMIT, LineSplitter


def test_a_line_is_whole_at_its_newline() -> None:
    splitter = LineSplitter(100)
    assert splitter.feed(b"half") == []
    (line,) = splitter.feed(b" done\nnext")
    assert (line.raw, line.start, line.end, line.cut) == (b"half done", 100, 110, False)
    assert splitter.read_to == 114


def test_a_line_of_five_megabytes_is_cut_flagged_and_never_held() -> None:
    splitter = LineSplitter(0)
    chunk = b"x" * 32 * 1024
    for _ in range(160):
        assert splitter.feed(chunk) == []
        assert len(splitter._held) <= LINE_LIMIT + 1
    long, after = splitter.feed(b"\nafter\n")
    assert (len(long.raw), long.cut, long.end) == (LINE_LIMIT, True, 160 * len(chunk) + 1)
    assert (after.raw, after.cut, after.start) == (b"after", False, long.end)


def test_a_line_of_exactly_the_limit_is_not_cut() -> None:
    (line,) = LineSplitter(0).feed(b"x" * LINE_LIMIT + b"\n")
    assert (len(line.raw), line.cut) == (LINE_LIMIT, False)


@given(st.lists(st.binary(max_size=20)), st.integers(0, 1000))
def test_however_the_bytes_come_the_lines_are_the_same(chunks: list[bytes], offset: int) -> None:
    splitter = LineSplitter(offset)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)] + splitter.finish()
    whole = b"".join(chunks)
    expected = whole.split(b"\n")
    assert [line.raw for line in lines] == (expected if expected[-1] else expected[:-1])
    assert all(whole[line.start - offset : line.end - offset].rstrip(b"\n") == line.raw.rstrip(b"\n") for line in lines)
