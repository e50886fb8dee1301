"""The processes of one session: what a command that was started in a session of its own has left running."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def processes_of(session: int) -> list[str]:
    """What still runs in this session, without zombies that nobody has collected yet."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text().rpartition(")")
            words = rest.split()  # state, parent, group, session
            if int(words[3]) == session and words[0] != "Z":
                found.append(name + " " + (entry / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


@contextmanager
def heeding_ctrl_c() -> Iterator[None]:
    """Have what is started meanwhile heed Ctrl-C: from a shell's background it would inherit that it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
