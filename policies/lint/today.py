"""What of a good policy comes to nothing today (`policies/notices.py`), with its code."""

from collections.abc import Iterator

from policies.lint.flaw import Flaw
from policies.lint.reading import Reading
from policies.notices import notices

_CODES = {"do": "L701", "otherwise": "L701", "limits": "L702", "when": "L703", "unless": "L703", "for": "L408"}


def today_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield the notices of *read*."""
    for notice in notices(read.policy):
        code = _CODES.get(notice.path.partition(".")[0], "L703")
        if code != "L701" or notice.path != "do" or not read.is_active:  # an active one is warned of, L313
            yield Flaw(code, notice.path, notice.reason, notice.hint)
