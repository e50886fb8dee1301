"""How fast time went in an archive: one of the demo has shortened waits, and says so itself in a file of its folder.

A stack's archive has no such file: its bucket is never asked. It must not know what is in an object.
"""

import json
import math
from pathlib import Path

from policies.contract.errors import BadInputError

FILE = "archive.json"
_KEY = "time_scale"


def tell_time_scale(folder: Path, scale: float) -> None:
    """Write beside the objects in *folder* how many real seconds a second of a wait lasted. OSError: it cannot be."""
    (folder / FILE).write_text(json.dumps({_KEY: scale}) + "\n", encoding="utf-8")


def time_scale_of(address: str) -> float:
    """Return what the archive at *address* tells of itself, 1 where it tells nothing; BadInputError: no such number."""
    file = Path(address) / FILE
    if address.startswith("s3://") or not file.is_file():
        return 1.0
    try:
        told = json.loads(file.read_bytes())
        scale = float(told.get(_KEY, 1.0))
    except (OSError, ValueError, OverflowError, TypeError, AttributeError):
        scale = math.nan
    if not (math.isfinite(scale) and scale > 0):
        raise BadInputError(
            f"{file} tells no {_KEY} above 0.", hint="Give --time-scale (an archive of the demo: 0.05), or mend it."
        )
    return scale
