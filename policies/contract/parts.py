"""One GPU by its several names: the driver prints its address with a fault and its UUID with a reset.

Decides when two keys of components (`Component.key`) mean one GPU. A link of a GPU goes with the GPU's address; two
keys that name links name the same only if they are equal. It must not know who reads them.
"""

import re
from collections.abc import Iterable

_NAMES = re.compile(r"(?<![0-9a-f:])[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}(?![0-9a-f])|(?:GPU|MIG)-[0-9A-Za-z-]+")
_OF_A_GPU = ("gpu", "nvlink")


def gpu_names(key: str) -> frozenset[str]:
    """Return the address and UUID in the *key* of a GPU, or of a link of it; none for other parts."""
    kind, _, names = key.partition(":")
    return frozenset(_NAMES.findall(names)) if kind in _OF_A_GPU else frozenset()


def is_same_part(well: str, faulty: str, also: Iterable[str] = ()) -> bool:
    """Whether the part *well*, which goes by the names *also* as well, is the *faulty* one."""
    if well == faulty:
        return True
    return well.startswith("gpu") and bool((gpu_names(well) | {*also}) & gpu_names(faulty))
