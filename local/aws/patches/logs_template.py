"""The Arn attribute of a log group ends in `:*`, as CloudFormation gives it.

moto leaves it out, so a role that was granted its log group's `Arn` could not write to its streams.
"""

from typing import Any

from moto.logs.models import LogGroup

from local.aws.patches.replacing import replace


def apply() -> None:
    original = LogGroup.get_cfn_attribute

    def attribute(self: Any, attribute_name: str) -> Any:
        value = original(self, attribute_name)
        return f"{value}:*" if attribute_name == "Arn" and not value.endswith(":*") else value

    replace(LogGroup, "get_cfn_attribute", attribute)
