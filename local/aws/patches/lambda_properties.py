"""A function keeps all properties of its template.

moto reads seven of them and forgets the rest, so a dead-letter queue or a log group of the template had no effect.
"""

from typing import Any

from moto.awslambda.models import LambdaFunction

from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.patches.replacing import Make, around_creation


def apply(runtime: LambdaRuntime) -> None:
    """Keep the template's properties on the function, as `relight_properties`."""

    def create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
        function = make(name, resource)
        properties = resource["Properties"]
        function.relight_properties = properties
        function.tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        function.architectures = properties.get("Architectures", ["x86_64"])
        runtime.record_logging(function)
        return function

    around_creation(LambdaFunction, create)
