"""DeepSpeed: `global_stepN/mp_rank_XX_model_states.pt` and `[bf16_]zero_pp_rank_D_mp_rank_XX_optim_states.pt`.

`latest` is a hint only. Complete when the ranks are contiguous, none is missing that the neighbours have, and each file
is a whole zip. Source: deepspeed/runtime/engine.py, `_get_zero_ckpt_name`.
"""

import re
from collections.abc import Sequence

from policies.checkpoints.families import candidates, folders_like, lacking
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Candidate, Check, Layout
from policies.checkpoints.whole_files import whole_archive

NAME = "deepspeed"
_MODEL = re.compile(r"^(?:zero_pp_rank_(?P<dp>\d+)_)?mp_rank_(?P<mp>\d+)_model_states\.pt$")
_OPTIMIZER = re.compile(r"^(?:bf16_|fp16_)?zero_pp_rank_(?P<dp>\d+)_mp_rank_(?P<mp>\d+)_optim_states\.pt$")


def find(tree: Tree) -> list[Candidate]:
    """Return the folders that hold rank files, and those beside them that are spelled alike."""
    recognised = [folder for folder in tree.folders() if any(map(_is_rank_file, tree.direct(folder)))]
    return candidates(NAME, tree, folders_like(tree, recognised))


def check(candidate: Candidate, others: Sequence[Candidate]) -> Check:
    """Judge one step by its rank files."""
    names = sorted(name for name in candidate.files if name.endswith("_states.pt"))
    gap = _gap(names) or next(iter(lacking(candidate, others, lambda name: name.endswith("_states.pt"))), "")
    if gap:
        return f"{gap} is missing"
    for name in names:
        reason = yield from whole_archive(candidate.files, name)
        if reason:
            return reason
    return ""


def _is_rank_file(name: str) -> bool:
    return bool(_MODEL.match(name) or _OPTIMIZER.match(name))


def _gap(names: Sequence[str]) -> str:
    """Return what is missing by the ranks' own numbers; an empty text when nothing is."""
    if not any(map(_MODEL.match, names)):
        return "mp_rank_00_model_states.pt"
    for pattern in (_MODEL, _OPTIMIZER):
        ranks = {(int(found["mp"]), int(found["dp"] or 0)) for found in map(pattern.match, names) if found}
        width = range(1 + max((mp for mp, _ in ranks), default=-1))
        depth = range(1 + max((dp for _, dp in ranks), default=-1))
        holes = sorted({(mp, dp) for mp in width for dp in depth} - ranks)
        if holes:
            kind = "model" if pattern is _MODEL else "optimizer"
            return f"the {kind} file of data-parallel rank {holes[0][1]}, model-parallel rank {holes[0][0]}"
    return ""


LAYOUT = Layout(NAME, find, check)
