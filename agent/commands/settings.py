"""What an operator can set of the commands to this node. It must not know what a setting is used for elsewhere."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from policies.contract.commands.items import table_of
from policies.contract.commands.operations import Operation
from policies.contract.errors import SettingsError

# What keeps and asks, and takes nothing from anybody. Whatever ends a process or takes a GPU away is for the operator
# of the node to allow, and needs root.
HARMLESS = (Operation.COLLECT_EVIDENCE, Operation.REQUEST_SAVE)


def _split(value: object) -> object:
    """In the environment a list is written with commas."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


def _is_a_table(value: str) -> str:
    if value:
        try:
            table_of(value)
        except SettingsError as error:
            raise ValueError(str(error)) from None
    return value


class CommandsSettings(BaseModel):
    """Settings of what the pipeline may ask of this node."""

    commands_table: Annotated[
        str,
        AfterValidator(_is_a_table),
        Field(description="ARN of the table of commands (output CommandsTableArn); empty: this node takes none."),
    ] = ""
    commands_allowed: Annotated[
        tuple[Operation, ...],
        BeforeValidator(_split),
        Field(description="Operations that this node carries out; whatever is not among them is refused."),
    ] = HARMLESS
    commands_seconds: Annotated[
        float,
        Field(ge=0.1, le=60, description="How often the table is looked at; every 2 s for a while after a fault."),
    ] = 30.0
