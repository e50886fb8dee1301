"""Which kind of mistake it is that the loader refused a policy for.

Decides the code by the loader's own words; what it cannot tell is L100. It must not judge a policy: the loader did.
"""

import re
from collections.abc import Sequence

from policies.lint.flaw import Flaw
from policies.problems import Problem

# (code, pattern of the path, pattern of the reason): the first that fits.
_KNOWN: Sequence[tuple[str, re.Pattern[str], re.Pattern[str]]] = tuple(
    (code, re.compile(path), re.compile(reason))
    for code, path, reason in (
        ("L106", r"^$", r"^(is no YAML|is not UTF-8|cannot be read|is no mapping|is nested too|has \d+ bytes)"),
        ("L106", r"^$", r"^line \d+ (is nested|has an anchor|has a tag)"),
        ("L106", r"", r"(is binary or of a type|is no finite number|is nested deeper)"),
        ("L501", r"^examples\.\d+$", r"^says \d+ findings, but"),
        ("L101", r"", r"^is no field of a policy"),
        ("L102", r"", r"^is missing"),
        ("L107", r"^name$", r""),
        ("L603", r"^why$", r"at most"),
        ("L108", r"^(do|otherwise)$", r"^name each action once"),
        ("L109", r"^do$", r"^record stands alone"),
        ("L110", r"^do$", r"^isolate comes before replace_node"),
        ("L111", r"^settle$", r"^settle is as long as the deadline"),
        ("L112", r"^limits\.", r"^give either at_most or percent"),
        ("L113", r"^count$", r"^occurrence is longer than within"),
        ("L116", r"^schedule", r"(is no span|is no offset|begins where|is no time of|is no day|give only, never)"),
        ("L409", r"^(do|otherwise)$", r"is done to (a run|a node), and a count per"),
        ("L410", r"^(for|cancel_when)$", r"^for and cancel_when look at one node"),
        ("L407", r"^for$", r"^for asks how long"),
        ("L401", r"^count$", r"^at_least is at most"),
        ("L202", r"^count\.(distinct|same)$", r"is not known"),
        ("L411", r"^count\.same$", r"is a list"),
        ("L412", r"^count\.same$", r"never distinct"),
        ("L414", r"^count\.(distinct|same)$", r"is told by no event"),
        ("L104", r"", r"is not a duration"),
        ("L206", r"^(when|unless|cancel_when)$", r"^(has \d+ characters|nests brackets|uses \d+ macros|has a macro)"),
        ("L207", r"^(when|unless|cancel_when)$", r"^calls "),
        ("L204", r"^(when|unless|cancel_when)$", r"has no attribute"),
        ("L205", r"^(when|unless|cancel_when)$", r"holds a number, not"),
        ("L209", r"^(when|unless|cancel_when)$", r"(holds a number(;|, never)|is true or false)"),
        ("L208", r"^(when|unless|cancel_when)$", r"is no regular expression"),
        ("L203", r"^(when|unless|cancel_when)$", r"^['\"].*['\"] is no "),
        ("L203", r"^(when|unless|cancel_when)$", r"^no [\w.]+ (startsWith|endsWith|contains)"),
        ("L202", r"^(when|unless|cancel_when)$", r"(is not known|is not a single value)"),
        ("L201", r"^(when|unless|cancel_when)$", r"^(is no CEL|nothing that CEL knows)"),
        ("L103", r"", r"is not known"),
        ("L105", r"", r"(greater than|less than|at least|at most|is no whole number|is no number)"),
    )
)  # fmt: skip


def flaw_of(problem: Problem) -> Flaw:
    """Return *problem* with its code."""
    return Flaw(_code(problem), problem.path, problem.reason, problem.hint)


def _code(problem: Problem) -> str:
    fits = (code for code, path, reason in _KNOWN if path.search(problem.path) and reason.search(problem.reason))
    return next(fits, "L100")
