"""What can go wrong while the demo runs; each message says what to do next."""


class DemoError(Exception):
    """The demo cannot go on."""


class TookTooLongError(DemoError):
    """Something that had to happen did not in time."""
