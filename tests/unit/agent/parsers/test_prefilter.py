"""What lets most records go by unread: quick, and never at the price of a fault."""

from pathlib import Path

from agent.kernel_log.record import parse_record
from agent.parsers.prefilter import PIECES, index
from agent.parsers.registry import KERNEL_PARSERS, parse_sightings
from agent.parsers.sighting import LineParser

ORDINARY = (Path(__file__).parents[3] / "data" / "ordinary_kernel.txt").read_text(encoding="utf-8").splitlines()
MOST_PIECES = 70  # each costs every record a plain search


def test_every_word_of_every_parser_is_found_by_a_piece_that_calls_it() -> None:
    pieces = index(KERNEL_PARSERS)
    for place, parser in enumerate(KERNEL_PARSERS):
        for word in parser.words:
            assert any(piece in word and parsers >> place & 1 for piece, parsers in pieces.items()), word


def test_there_are_few_pieces_and_none_for_nothing() -> None:
    pieces = index(KERNEL_PARSERS)
    assert len(pieces) <= MOST_PIECES
    assert set(PIECES) <= set(pieces)


def test_a_word_that_no_piece_covers_is_a_piece_itself() -> None:
    parser = LineParser(lambda _text, _layout: [], ("whole word", "xx error"))
    assert index([parser, parser], ("rror",)) == {"whole word": 0b11, "rror": 0b11}


def test_a_healthy_node_s_records_tell_nothing_and_most_meet_no_parser() -> None:
    assert [line for line in ORDINARY if parse_sightings(parse_record(line))] == []
    pieces = index(KERNEL_PARSERS)
    met = [line for line in ORDINARY if any(piece in parse_record(line).text for piece in pieces)]
    assert len(met) <= len(ORDINARY) * 0.3
