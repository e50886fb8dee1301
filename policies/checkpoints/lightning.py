"""Lightning: one file a checkpoint, `epoch=E-step=S.ckpt`, a zip.

`last.ckpt` tells no step in its name and is a copy or link of another: it is left alone. Folders with that name
(sharded strategies) are DCP's. Source: lightning/pytorch/callbacks/model_checkpoint.py.
"""

import re
from collections.abc import Sequence

from policies.checkpoints.listing import Tree, join
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.whole_files import whole_archive

NAME = "lightning"
_FILE = re.compile(r"(?:^|[-_])step=(\d{1,18})(?:[-_].*)?\.ckpt$")


def find(tree: Tree) -> list[Candidate]:
    """Return the .ckpt files whose names tell a step."""
    return [
        Candidate(NAME, int(found[1]), join(folder, name), {name: entry}, object_store=tree.object_store)
        for folder in tree.folders()
        for name, entry in tree.direct(folder).items()
        if (found := _FILE.search(name))
    ]


def check(candidate: Candidate, _others: Sequence[Candidate]) -> Check:
    """Judge one file."""
    (name,) = candidate.files
    return (yield from whole_archive(candidate.files, name))


LAYOUT = Layout(NAME, find, check)
