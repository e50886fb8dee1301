"""What every model of the contract has in common.

Frozen, since a value that travelled must not change; unknown fields of a known schema version are ignored, so that
a newer sender can talk to an older receiver.
"""

from pydantic import BaseModel, ConfigDict

LARGEST_NUMBER = 2**53 - 1
"""What every reader of JSON keeps exactly (RFC 8259, 6). A number without an end would fill whatever remembers it."""


class Model(BaseModel):
    """A frozen value that ignores fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_enum_values=False, ser_json_inf_nan="strings")

    def to_json(self) -> str:
        """Return the wire form: JSON without null fields."""
        return fit_for_queues(self.model_dump_json(exclude_none=True))


def fit_for_queues(json_text: str) -> str:
    """Return *json_text* with the two characters escaped that SQS does not take (SendMessage, MessageBody).

    A process may call itself what it likes, and its name stands in what the kernel prints of it.
    """
    if "\ufffe" in json_text or "\uffff" in json_text:
        return json_text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    return json_text
