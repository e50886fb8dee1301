"""Which folders belong together, and what one of them lacks that the others have.

A save that was cut off may have left nothing that tells its layout, and a missing rank leaves no trace in its own
folder: in both cases the neighbours know. It must not know any layout.
"""

import re
from collections.abc import Callable, Iterable, Sequence

from policies.checkpoints.listing import Tree, join, parent_of
from policies.checkpoints.model import Candidate
from policies.checkpoints.steps import is_unfinished, step_of, without_unfinished

_DIGITS = re.compile(r"\d+")
MARKER = "-unfinished"  # NeMo 2 writes `<checkpoint>-unfinished` beside a save and deletes it at the end


def folders_like(tree: Tree, recognised: Iterable[str]) -> list[str]:
    """Return *recognised* and the folders beside them whose names are spelled alike (``step-10``, ``step-20.tmp``)."""
    families = {(parent_of(folder), _shape(tree.name_of(folder))) for folder in recognised}
    return [
        folder
        for folder in tree.folders()
        if step_of(tree.name_of(folder)) is not None and (parent_of(folder), _shape(tree.name_of(folder))) in families
    ]


def candidates(layout: str, tree: Tree, folders: Iterable[str]) -> list[Candidate]:
    """Return a candidate for each of *folders* whose name tells a step."""
    found = []
    for folder in folders:
        step = step_of(tree.name_of(folder))
        if step is not None:
            remark = _remark(tree, folder)
            found.append(Candidate(layout, step, folder, tree.below(folder), remark, tree.object_store))
    return found


def step_folder(tree: Tree, folder: str) -> str | None:
    """Return *folder* or the nearest one around it whose name tells a step; None when there is none."""
    while step_of(tree.name_of(folder)) is None:
        if not folder:
            return None
        folder = parent_of(folder)
    return folder


def lacking(candidate: Candidate, others: Sequence[Candidate], wanted: Callable[[str], bool]) -> list[str]:
    """Return the *wanted* names that the next older neighbour has and *candidate* has not, sorted.

    Nothing when another neighbour has exactly the same names: then the job's shape changed, and nothing was lost.
    """
    mine = _names(candidate, wanted)
    neighbours = [
        other for other in others if other is not candidate and parent_of(other.path) == parent_of(candidate.path)
    ]
    if not neighbours or any(_names(other, wanted) == mine for other in neighbours):
        return []
    older = [other for other in neighbours if other.step < candidate.step]
    nearest = max(older, key=lambda other: other.step) if older else min(neighbours, key=lambda other: other.step)
    return sorted(_names(nearest, wanted) - mine)


def _names(candidate: Candidate, wanted: Callable[[str], bool]) -> frozenset[str]:
    return frozenset(_unnumbered(name, candidate.step) for name in candidate.files if wanted(name))


def _unnumbered(name: str, step: int) -> str:
    """*name* without the step itself: ``global_step4/…`` inside a folder of step 4 is the same file in every step."""
    return re.sub(rf"(?<=step)0*{step}(?!\d)", "N", name)


def _shape(name: str) -> str:
    return _DIGITS.sub("#", without_unfinished(name))


def _remark(tree: Tree, folder: str) -> str:
    name = tree.name_of(folder)
    if is_unfinished(name):
        return f"its folder is still called {name}: the save did not finish"
    if folder and f"{name}{MARKER}" in tree.direct(parent_of(folder)):
        return f"{name}{MARKER} stands beside it: the save did not finish"
    if folder and tree.below(join(parent_of(folder), f"{name}{MARKER}")):
        return f"{name}{MARKER}/ stands beside it: the save did not finish"
    return ""
