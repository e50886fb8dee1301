"""Who gives a command, where nobody says it: what `--by` and `--edited-by` are by default.

Decides that a person has a name in every shell: a root's or a container's sets no USER. It must not ask AWS.
"""

import getpass
import os


def whoami() -> str:
    """Return LOGNAME, USER, LNAME or USERNAME, else the name in the password database, else the number of the user."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such user there: `docker run --user 12345`
        return f"uid {os.getuid()}"
