"""The mistakes that lint knows: a stable code each, how grave it is, and what it is in half a line.

Decides the codes' meaning, which docs/policies.md repeats. A code is never used again for something else.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How grave a mistake is."""

    PROBLEM = "problem"  # refused: by lint, by push and (but for L114) by the guard
    WARNING = "warning"  # taken, and hardly ever what was meant
    NOTE = "note"  # worth knowing


class Mistake(NamedTuple):
    """One kind of mistake."""

    level: Level
    says: str


_P, _W, _N = Level.PROBLEM, Level.WARNING, Level.NOTE

CODES: Mapping[str, Mistake] = {
    "L100": Mistake(_P, "a value that the field cannot hold"),
    "L101": Mistake(_P, "no field of a policy"),
    "L102": Mistake(_P, "a field that every policy needs is missing"),
    "L103": Mistake(_P, "a word that the field does not know"),
    "L104": Mistake(_P, "a span of time without its unit"),
    "L105": Mistake(_P, "a number or text beyond its bounds"),
    "L106": Mistake(_P, "no plain YAML"),
    "L107": Mistake(_P, "a name that is not lower-case words joined by hyphens"),
    "L108": Mistake(_P, "an action that stands twice in one list"),
    "L109": Mistake(_P, "`record` beside other actions"),
    "L110": Mistake(_P, "`replace_node` without `isolate` before it"),
    "L111": Mistake(_P, "`settle` as long as the deadline"),
    "L112": Mistake(_P, "a limit with both or neither of `at_most` and `percent`"),
    "L113": Mistake(_P, "an occurrence that is longer than `within`"),
    "L114": Mistake(_P, "a name that two files share"),
    "L115": Mistake(_W, "a file that is called otherwise than its policy"),
    "L116": Mistake(_P, "hours of a week that cannot be read"),
    "L201": Mistake(_P, "no CEL"),
    "L202": Mistake(_P, "a member that does not exist"),
    "L203": Mistake(_P, "a word that the member never holds"),
    "L204": Mistake(_P, "an attribute that the kind does not have"),
    "L205": Mistake(_P, "a number compared with text"),
    "L206": Mistake(_P, "a condition that is too long or too deep, or has too many macros"),
    "L207": Mistake(_P, "a function that does not exist"),
    "L208": Mistake(_P, "no regular expression"),
    "L209": Mistake(_P, "a number or a flag that is taken for something else"),
    "L210": Mistake(_W, "a condition that is never true"),
    "L211": Mistake(_W, "an alternative that is never true"),
    "L212": Mistake(_W, "`when` asks for no kind"),
    "L213": Mistake(_W, "`when` is true of most events there are"),
    "L214": Mistake(_W, "an attribute asked of kinds that do not bring it"),
    "L215": Mistake(_N, "a severity that leaves worse ones out, which no other policy asks for"),
    "L216": Mistake(_W, "words compared by their letters"),
    "L217": Mistake(_W, "a text test that everything passes"),
    "L218": Mistake(_W, "a comparison of numbers that never holds, or hardly ever"),
    "L219": Mistake(_W, "a test of the message that a cut or split line fails"),
    "L221": Mistake(_W, "`unless` covers all of `when`"),
    "L222": Mistake(_W, "`unless` can never be true where `when` is"),
    "L223": Mistake(_W, "`cancel_when` is true wherever `when` is"),
    "L224": Mistake(_W, "`cancel_when` where nothing settles that could be called off"),
    "L225": Mistake(_W, "the age of facts, and no fact beside it"),
    "L301": Mistake(_W, "a node pays for an error of the program"),
    "L302": Mistake(_W, "a node pays for a symptom that it only prints"),
    "L303": Mistake(_W, "a latched fault of hardware, and nothing that clears it"),
    "L304": Mistake(_W, "evidence that is stale once `settle` is over"),
    "L305": Mistake(_W, "acts that take a node or a run out of service, without a limit"),
    "L306": Mistake(_W, "a limit of acts that the policy never does"),
    "L307": Mistake(_W, "a limit that never binds"),
    "L308": Mistake(_W, "destructive acts without a deadline of their own"),
    "L309": Mistake(_W, "a deadline that the acts cannot keep"),
    "L310": Mistake(_W, "a run is stopped, and nobody lets it go on or is told"),
    "L311": Mistake(_W, "`otherwise` does nothing that `do` did not"),
    "L312": Mistake(_W, "`approval` for nothing that could be approved"),
    "L313": Mistake(_W, "an active policy whose acts nobody carries out"),
    "L314": Mistake(_W, "an act that the kind names nothing for"),
    "L315": Mistake(_W, "acts on a node where there is none of ours"),
    "L316": Mistake(_W, "a node pays for a file system that many share"),
    "L317": Mistake(_W, "`reboot_node`, `reload_driver` or `drain` without `isolate`"),
    "L318": Mistake(_N, "acts on a job, of a kind whose tellers know neither job nor checkpoints"),
    "L319": Mistake(_W, "a schedule that leaves no hour to act in"),
    "L320": Mistake(_W, "a field that means nothing without another"),
    "L321": Mistake(_W, "a trust that is never lost"),
    "L322": Mistake(_N, "a trust that one wrong act ends"),
    "L323": Mistake(_N, "a run is resumed with its node isolated, and nothing brings another"),
    "L401": Mistake(_P, "more occurrences than are kept"),
    "L402": Mistake(_W, "a count that can never be reached"),
    "L403": Mistake(_W, "lines are counted where errors are meant"),
    "L404": Mistake(_W, "`distinct` of what is the same all along"),
    "L405": Mistake(_W, "`distinct` where one is enough"),
    "L406": Mistake(_N, "a fault is told once in `within`, and no more before it is over"),
    "L407": Mistake(_P, "`for` beside a count of how often"),
    "L408": Mistake(_N, "`for` of a kind that nothing tells the end of"),
    "L409": Mistake(_P, "a count over many nodes, and an act on one"),
    "L410": Mistake(_P, "`for` or `cancel_when` with a count over many nodes"),
    "L411": Mistake(_P, "`same` of a list"),
    "L412": Mistake(_P, "`same` and `distinct` of one member"),
    "L413": Mistake(_W, "`same` of what is the same all along"),
    "L414": Mistake(_P, "a count of what no event tells"),
    "L501": Mistake(_P, "an example that ends otherwise"),
    "L502": Mistake(_W, "an acting policy without examples"),
    "L503": Mistake(_W, "no example shows what the policy leaves alone"),
    "L504": Mistake(_W, "no example shows the policy fire"),
    "L601": Mistake(_W, "an acting policy that cites nothing"),
    "L602": Mistake(_W, "`why` gives no cause"),
    "L603": Mistake(_P, "`why` is too long for whoever is woken"),
    "L701": Mistake(_N, "an action that nobody carries out yet"),
    "L702": Mistake(_N, "a limit that holds otherwise than it seems to"),
    "L703": Mistake(_N, "what is asked about a run, of kinds that are told by who knows none"),
    "L801": Mistake(_W, "two policies that say the same"),
    "L802": Mistake(_W, "two policies that answer one condition differently, at one priority"),
    "L803": Mistake(_W, "a policy that another one always leads"),
    "L804": Mistake(_N, "two policies of one priority that may meet in one event"),
}
