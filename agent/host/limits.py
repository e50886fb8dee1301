"""What is left out where a node has more of something than is measured: it is told, since a fault there goes unseen."""

from collections.abc import Sequence

from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

DAY_SECONDS = 86_400.0


def beyond(of: str, there: int, most: int) -> Sequence[Reading]:
    """Return that of *there* things only *most* are measured; nothing where all are. *of* names the source."""
    if there <= most:
        return ()
    attributes: dict[str, Scalar] = {"reason": "too_many_mounts", "of": of, "lost": there - most}
    message = f"{there - most} of {there} {of} are not measured: at most {most} are"
    gap = Sighting(Kind.PIPELINE_GAP, Severity.ERROR, NODE, attributes)
    return (Holds(gap, message, after=60.0, again=DAY_SECONDS),)
