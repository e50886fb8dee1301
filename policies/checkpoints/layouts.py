"""The layouts that are known, as one table, and which of them a tree's folders belong to.

The order decides: a folder goes to the first layout that claims it, so the ones with marks of their own stand before
those whose parts they contain. It must not judge completeness.
"""

from policies.checkpoints import (
    accelerate,
    deepspeed,
    hf_trainer,
    lightning,
    megatron_dist,
    nemo2,
    orbax,
    safetensors,
    torch_dcp,
)
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Candidate, Layout
from policies.contract.errors import BadInputError

AUTO = "auto"
_ALL = (
    nemo2.LAYOUT,
    megatron_dist.LAYOUT,
    hf_trainer.LAYOUT,
    orbax.LAYOUT,
    torch_dcp.LAYOUT,
    deepspeed.LAYOUT,
    accelerate.LAYOUT,
    lightning.LAYOUT,
    safetensors.LAYOUT,
)
LAYOUTS = {layout.name: layout for layout in _ALL}
"""Name -> layout, in the order in which they claim folders."""


def find_candidates(tree: Tree, layout: str = AUTO) -> list[Candidate]:
    """Return the candidates of *layout*, or of every layout that the tree shows, in the table's order.

    Weights alone, and saves that are numbered by count, are named only where nothing better is there.
    BadInputError when *layout* is none of the table.
    """
    if layout != AUTO:
        return list(_named(layout).find(tree))
    claimed: list[Candidate] = []
    for each in _ALL:
        taken = {candidate.path for candidate in claimed}
        claimed += [candidate for candidate in each.find(tree) if not _overlaps(candidate.path, taken)]
    return _best_kind(claimed)


def _named(name: str) -> Layout:
    if name not in LAYOUTS:
        raise BadInputError(
            f"no checkpoint layout is called {name!r}.", hint=f"Use {AUTO} or one of {', '.join(LAYOUTS)}."
        )
    return LAYOUTS[name]


def _overlaps(path: str, taken: set[str]) -> bool:
    """Whether *path* is one of *taken*, or lies inside one or around one."""
    return any(path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in taken)


def _best_kind(found: list[Candidate]) -> list[Candidate]:
    for wanted in ((True, True), (True, False), (False, True)):
        kind = [each for each in found if (LAYOUTS[each.layout].resumable, LAYOUTS[each.layout].counts_steps) == wanted]
        if kind:
            return kind
    return []
