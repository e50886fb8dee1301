"""The processes of one session: what a command that was started in a session of its own has left running."""

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
