"""Why a message died, as far as the message itself tells.

Decides by the queue's name how its messages are to be read. It must not receive or send anything.
"""

import json
from collections.abc import Callable

from console.dlq.model import Message
from policies.contract.decisions import parse_message
from policies.contract.envelope import parse_envelope
from policies.contract.errors import BadInputError

# EventBridge and Lambda leave these beside what they could not deliver (EventBridge user guide, "Using dead-letter
# queues"; Lambda developer guide, "Adding a dead-letter queue").
TARGET, INVOCATION = "TARGET_ARN", "ErrorCode"
_SERVICE_WORDS = (("ERROR_CODE", "ERROR_MESSAGE"), (INVOCATION, "ErrorMessage"))

# Coordinate leaves these beside what it refuses (`functions/ports/dead_letters.py`).
_REASON, _ERROR = "reason", "error"


def why(queue: str, message: Message) -> str:
    """Return one sentence: the reason beside the body, else what is wrong with it, else that its reader failed."""
    told = _service_reason(message) or _refusal(message)
    if told:
        return told
    read = _READERS.get(queue, _as_json)
    try:
        kind = read(message.body)
    except BadInputError as error:
        return f"{error.message} {error.hint}".strip()
    return f"readable ({kind}); its reader failed each time: the function's log says why"


def _service_reason(message: Message) -> str:
    for code, text in _SERVICE_WORDS:
        if code in message.attributes:
            target = message.attributes.get(TARGET, "")
            said = f"{message.attributes[code]}: {message.attributes.get(text, '')}".rstrip(": ")
            return f"could not be delivered to {target}: {said}" if target else f"the function failed: {said}"
    return ""


def _refusal(message: Message) -> str:
    """Return why its reader put it here. Where SQS did, what stands beside it was true before a redrive only."""
    if message.given_up_by or _REASON not in message.attributes:
        return ""
    error = message.attributes.get(_ERROR, "")
    said = "" if error in {"", BadInputError.__name__} else f"its reader broke on it: {error}: "
    return said + message.attributes[_REASON]


def _decision(body: str) -> str:
    message = parse_message(body)
    return f"{message.type} of {message.cluster}"


def _envelope(body: str) -> str:
    parsed = parse_envelope(body.encode())
    refused = f", {len(parsed.rejected)} of them unusable" if parsed.rejected else ""
    events = len(parsed.envelope.events) + len(parsed.rejected)
    return f"{events} events of {parsed.envelope.node.name}{refused}"


def _as_json(body: str) -> str:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise BadInputError("the body is not JSON.", hint="Only EventBridge should send here: see who did.") from None
    kind = document.get("detail-type") if isinstance(document, dict) else None
    return str(kind or "no event of EventBridge")


_READERS: dict[str, Callable[[str], str]] = {"decisions-dlq": _decision, "overflow-dlq": _envelope}
