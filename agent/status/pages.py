"""Which page of the status endpoint shows what. It must not know sockets."""

from collections.abc import Callable, Mapping

from agent.status.http import Answer, Page, json_answer
from agent.status.prometheus import CONTENT, metrics
from agent.status.report import Loops, Reporter


def health(loops: Loops) -> Callable[[], Answer]:
    """Return the page that a probe asks: it reads nothing that may wait for a disk."""

    def page() -> Answer:
        stalled = loops.stalled()
        return Answer(503, f"these stand still: {', '.join(stalled)}\n") if stalled else Answer(200, "ok\n")

    return page


def local_pages(reporter: Reporter) -> Mapping[str, Page]:
    """Return what the unix socket answers."""
    return {"/status": lambda: json_answer(reporter.report()), **public_pages(reporter)}


def public_pages(reporter: Reporter) -> Mapping[str, Page]:
    """Return what a TCP port answers: numbers, and no words of logs or errors."""
    return {
        "/metrics": lambda: Answer(200, metrics(reporter.report()), CONTENT),
        "/healthz": health(reporter.loops),
    }
