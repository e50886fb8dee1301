"""Which parsers are worth a call for a record. Nearly every record of a healthy node deserves none.

Each parser names words without which it finds nothing. Some pieces of those words cover them all; a record that holds
no piece is done after one plain search a piece, two microseconds in all, and else only the parsers of the pieces found
run.

Decides the pieces. It must not know what a word means.
"""

from collections.abc import Mapping, Sequence

from agent.parsers.sighting import LineParser

# Short enough to be shared by many words, rare in what healthy nodes print. A word belongs to the first that it holds;
# one that holds none is a piece itself.
PIECES = (
    *("rror", "ERROR", "ailed", "ailure", "BUG", "nable to handle", "Kill", "Xid (", "imeout", "imed out", "LOCKUP"),
    *("ink is ", ": Link ", "only", "fallen off", "stall", "kthread ", "achine ", "NVIDIA ", "NVSwitch"),
    *("nvme nvme", "Lustre", "writ", "space left", "module event", "mlx5_", "power"),
)


def index(parsers: Sequence[LineParser], pieces: Sequence[str] = PIECES) -> Mapping[str, int]:
    """Return each piece with the parsers (bits by their place in *parsers*) that may find something where it stands."""
    found: dict[str, int] = {}
    for place, parser in enumerate(parsers):
        for word in parser.words:
            piece = next((piece for piece in pieces if piece in word), word)
            found[piece] = found.get(piece, 0) | 1 << place
    return found
