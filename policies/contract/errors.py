"""The errors of Relight: a small tree, each message says what to do next.

It must not know where an error is shown.
"""


class RelightError(Exception):
    """Whatever Relight raises on purpose. ``hint`` says what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        """Keep *message* (what is wrong) and *hint* (what to do next)."""
        super().__init__(f"{message} {hint}".strip())
        self.message = message
        self.hint = hint


class BadInputError(RelightError):
    """Input that will never become right by trying again: it is rejected with this reason and the rest goes on."""


class DependencyError(RelightError):
    """Something outside failed and may work later: the caller retries, nothing is rejected."""


class FencedError(RelightError):
    """The lease that allowed an act belongs to somebody else by now: stop, touch nothing."""


class SettingsError(RelightError):
    """A setting is missing or wrong."""
