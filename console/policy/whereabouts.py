"""Which policies table a command speaks to: the one that is named, else that of the stack.

Decides what counts first: `--table`, a `--stack` that is named, POLICIES_TABLE, the stack of the usual name. What a
person types now counts more than what a terminal remembers: the off switch of another stack would stop the wrong one.
It must not look at a policy.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from console.dlq.adapters.asking import advice, asking
from console.dlq.adapters.stacks import CloudFormationStacks
from console.dlq.model import Stack
from console.stack_commands import DEFAULT_STACK, POLICIES_TABLE
from policies.contract.errors import DependencyError, RelightError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

    from console.policy.judges import Judges
    from functions.adapters.policies import DynamoPolicies

_NAMED = f"A table that --table or {POLICIES_TABLE} names is not looked for."


def table_of(table: str | None, stack: str | None, remembered: str | None, describe: Callable[[str], Stack]) -> str:
    """Return the table's name; *remembered* is what the environment says. DependencyError says what else to name."""
    named = table or (None if stack else remembered)
    if named:
        return named
    try:
        return describe(stack or DEFAULT_STACK).output("PoliciesTable")
    except RelightError as error:
        raise DependencyError(error.message, hint=f"{advice(error)} {_NAMED}") from None


def policies_at(table: str | None, stack: str | None, remembered: str | None, region: str | None) -> "DynamoPolicies":
    """Return the policies of the table that is meant. RelightError when it is not found."""
    from functions.adapters.policies import DynamoPolicies

    return DynamoPolicies(*_table_at(table, stack, remembered, region))


def judges_at(table: str | None, stack: str | None, remembered: str | None, region: str | None) -> "Judges":
    """Return the policies in force in the table that is meant, with its switches. RelightError when there is none."""
    from console.policy.judges import of_table
    from functions.adapters.policies import DynamoPolicies
    from functions.adapters.switches import DynamoSwitches

    client, name = _table_at(table, stack, remembered, region)
    return of_table(DynamoPolicies(client, name), DynamoSwitches(client, name), name)


def _table_at(
    table: str | None, stack: str | None, remembered: str | None, region: str | None
) -> "tuple[DynamoDBClient, str]":
    from console import aws

    with asking("connecting to AWS"):
        session = aws.session(region)

        def describe(wanted: str) -> Stack:
            return CloudFormationStacks(session.client("cloudformation")).described(wanted)

        name = table_of(table, stack, remembered, describe)
        return session.client("dynamodb"), name
