"""Text that a rule's template may put between quotes of its own. It must not know what the text is about."""

SENTENCE_CHARACTERS = 900


def plain(text: str) -> str:
    """Return *text* on one line and without double quotes."""
    return " ".join(text.replace('"', "'").replace("\\", "/").split())[:SENTENCE_CHARACTERS]
