"""What may be printed of a message: never a secret, never a control character, no more than asked.

Decides what looks like a secret: the values of names such as task_token (who has it can end an incident's step),
password or authorization, and AWS key ids. It must not know where a text comes from.
"""

import json
import re
from typing import Any

SHOWN = 6  # enough to tell two tokens apart, too little to use one
_CUT = "…(cut)"
_NAME = r"[\w-]*(?:token|secret|password|passwd|authorization|credential|signature|api_?key|access_?key)[\w-]*"
_SECRET_NAME = re.compile(rf"^{_NAME}$", re.IGNORECASE)
_ASSIGNED = re.compile(rf"(?i)(\"?\b{_NAME}\\?\"?\s*[:=]\s*\\?\"?)([^\s\"',;&}}\\]+)")
_BEARER = re.compile(r"(?i)\b((?:bearer|basic)\s+)([\w.~+/=-]{8,})")
# IAM user guide, "Understanding unique ID prefixes": AKIA long-lived, ASIA temporary.
_KEY_ID = re.compile(r"\b((?:AKIA|ASIA))([A-Z0-9]{12,})\b")
_DEEPEST = 40


def safe_text(text: str, most: int | None = None) -> str:
    """Return *text* fit for a terminal, secrets cut, at most *most* characters (with ``…`` where it was cut)."""
    shown = "".join(letter if letter.isprintable() else _escape(letter) for letter in _without_secrets(text))
    return shown if most is None or len(shown) <= most else shown[:most] + "…"


def _escape(letter: str) -> str:
    return "\\n" if letter == "\n" else f"\\x{ord(letter):02x}"


def _without_secrets(text: str) -> str:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return _scrub(text)
    if not isinstance(document, dict | list):
        return _scrub(text)
    return json.dumps(_clean(document, 0), ensure_ascii=False)


def _clean(value: Any, depth: int) -> Any:  # noqa: ANN401 - any JSON
    if depth > _DEEPEST:
        return _CUT
    if isinstance(value, dict):
        return {name: _cut(name, each, depth) for name, each in value.items()}
    if isinstance(value, list):
        return [_clean(each, depth + 1) for each in value]
    return _without_secrets(value) if isinstance(value, str) else value


def _cut(name: str, value: Any, depth: int) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and _SECRET_NAME.match(name):
        return value[:SHOWN] + _CUT if len(value) > 2 * SHOWN else _CUT
    return _clean(value, depth + 1)


def _scrub(text: str) -> str:
    for pattern in (_ASSIGNED, _BEARER, _KEY_ID):
        text = pattern.sub(lambda found: f"{found[1]}{_CUT}", text)
    return text
