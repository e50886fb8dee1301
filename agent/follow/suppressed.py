"""Lines that say that lines were left out: the limits on how fast a log may be written.

Decides how many are missing and whose limit it was. A limit on the kernel's own audit messages hides no fault. It must
not know which log says it.

Sources: lib/ratelimit.c ("%s: %d callbacks suppressed"); kernel/printk/printk.c before 2.6.39 ("printk: %d messages
suppressed."); systemd src/journal/journald-rate-limit.c and journald-kmsg.c ("Suppressed %u messages from %s", "Missed
%u kernel messages"); rsyslog plugins/imjournal and runtime/ratelimit.c ("%u messages lost due to rate-limiting").
"""

import re

from agent.parsers.sighting import NODE, Sighting
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

RATE_LIMITED = "rate_limited"
_FORMS = re.compile(
    r"\b(?P<by>[\w.]{1,64}): (?P<a>[0-9]{1,10}) (?:callbacks|messages) suppressed"
    r"|\bSuppressed (?P<b>[0-9]{1,10}) messages from (?P<unit>[^\s]{1,200})"
    r"|\bMissed (?P<c>[0-9]{1,10}) kernel messages"
    r"|\b(?P<d>[0-9]{1,10}) messages lost due to rate-limiting"
)
_HARMLESS = frozenset({"kauditd_printk_skb", "audit_log_lost", "audit"})


def parse_suppressed(text: str, source: str) -> list[Sighting]:
    """Return that records of *source* are missing, if *text* says so."""
    if "uppressed" not in text and "Missed " not in text and "rate-limiting" not in text:
        return []  # as nearly every line
    match = _FORMS.search(text[:4096])
    if match is None or match["by"] in _HARMLESS:
        return []
    count = next(group for group in match.group("a", "b", "c", "d") if group)
    attributes: dict[str, Scalar] = {"reason": RATE_LIMITED, "of": source, "lost": int(count)}
    if by := match["by"] or match["unit"]:
        attributes["by"] = by.rstrip(".")
    return [Sighting(Kind.PIPELINE_GAP, Severity.WARNING, NODE, attributes)]
