"""The training step that a folder's or file's name tells.

Decides by the name alone. It must not look inside.
"""

import re

# The usual spellings: step-30 and step_30 (torchtitan, DCP recipes), iter_0000100 (Megatron-Core), global_step4
# (DeepSpeed, verl), step=6 (NeMo 2, Lightning), ep0-ba100 (Composer), checkpoint-6 (HF), 100 (Orbax).
_STEP = r"(?:^|[-_.])(?:global[-_]?)?(?:steps?|iterations?|iters?|it|batch|ba)[-_=]?(\d{1,18})(?=$|[-_.,])"
_PATTERNS = (
    re.compile(_STEP, re.IGNORECASE),
    re.compile(r"^(?:checkpoint|ckpt|chkpt|save)s?[-_=]?(\d{1,18})$", re.IGNORECASE),
    re.compile(r"^(\d{1,18})$"),
    re.compile(r"^(?:epoch|ep)[-_=]?(\d{1,18})$", re.IGNORECASE),
)
# What frameworks add until a save is finished: HF (tmp-checkpoint-N), Orbax, NeMo 2, and many a hand-made writer.
_BEFORE = r"^(?:tmp|temp)[-_.]"
_AFTER = r"[-_.](?:tmp|temp|unfinished|incomplete|partial)$|\.orbax-checkpoint-tmp[-.\w]*$"
_UNFINISHED = re.compile(f"{_BEFORE}|{_AFTER}", re.IGNORECASE)


def step_of(name: str) -> int | None:
    """Return the step in *name*, None when it tells none. The last number counts: ``epoch_2_step_30`` is 30."""
    stem = without_unfinished(name)
    for pattern in _PATTERNS:
        found = pattern.findall(stem)
        if found:
            return int(found[-1])
    return None


def is_unfinished(name: str) -> bool:
    """Whether *name* is one that its framework changes once the save is whole."""
    return bool(_UNFINISHED.search(name))


def without_unfinished(name: str) -> str:
    """*name* as it is once the save is whole."""
    return _UNFINISHED.sub("", name)
