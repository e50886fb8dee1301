"""What every model of the contract has in common.

Frozen, since a value that travelled must not change; unknown fields of a known schema version are ignored, so that
a newer sender can talk to an older receiver.
"""

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A frozen value that ignores fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", use_enum_values=False, ser_json_inf_nan="strings")

    def to_json(self) -> str:
        """Return the wire form: JSON without null fields."""
        return self.model_dump_json(exclude_none=True)
