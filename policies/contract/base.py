"""What every model of the contract has in common.

Frozen, since a value that travelled must not change; unknown fields of a known schema version are ignored, so that
a newer sender can talk to an older receiver.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

LARGEST_NUMBER = 2**53 - 1
"""What every reader of JSON keeps exactly (RFC 8259, 6). A number without an end would fill whatever remembers it."""


class Model(BaseModel):
    """A frozen value that ignores fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_enum_values=False, ser_json_inf_nan="strings")

    @classmethod
    def trusted(cls, **values: Any) -> Self:  # noqa: ANN401 - the model's own fields
        """Return the model of *values*, by field name and known to be good; what is left out has its default.

        It is `model_construct` without aliases, which asks after each field's and so takes four times as long.
        """
        made = cls.__new__(cls)
        write = object.__setattr__
        write(made, "__dict__", {**_defaults(cls), **values})
        write(made, "__pydantic_fields_set__", set(values))
        write(made, "__pydantic_extra__", None)
        write(made, "__pydantic_private__", None)
        return made

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with *update*, as pydantic's does in five times as long; a decision makes dozens."""
        if deep or self.__pydantic_private__ is not None:
            return super().model_copy(update=update, deep=deep)
        made, write = self.__class__.__new__(self.__class__), object.__setattr__
        write(made, "__dict__", {**self.__dict__, **(update or {})})
        write(made, "__pydantic_fields_set__", self.__pydantic_fields_set__ | (update or {}).keys())
        write(made, "__pydantic_extra__", None)
        write(made, "__pydantic_private__", None)
        return made

    def to_json(self) -> str:
        """Return the wire form: JSON without null fields."""
        return fit_for_queues(self.model_dump_json(exclude_none=True))


@cache
def _defaults(model: type[BaseModel]) -> dict[str, Any]:
    """Return the defaults of *model* that can be shared: values are frozen, dicts and lists are always given."""
    fields = model.model_fields.items()
    return {name: one.default for name, one in fields if not one.is_required() and one.default_factory is None}


def fit_for_queues(json_text: str) -> str:
    """Return *json_text* with the two characters escaped that SQS does not take (SendMessage, MessageBody).

    A process may call itself what it likes, and its name stands in what the kernel prints of it.
    """
    if "\ufffe" in json_text or "\uffff" in json_text:
        return json_text.replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")
    return json_text
