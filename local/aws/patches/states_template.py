"""State machines of a template are made in the backend that executes them, with their definition put together.

moto's CloudFormation creates them in the backend that only pretends, and reads DefinitionString alone: a definition in
S3 (as the CDK writes it from a file) and DefinitionSubstitutions had no effect.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from moto.stepfunctions import models
from moto.stepfunctions.models import StateMachine
from moto.stepfunctions.parser.models import stepfunctions_parser_backends

from local.aws import backends
from local.aws.errors import UnsupportedError
from local.aws.patches.replacing import Make, around_creation, replace

_PLACEHOLDER = re.compile(r"\$\{([A-Za-z0-9_]+)\}")


def apply() -> None:
    replace(models, "stepfunctions_backends", stepfunctions_parser_backends)
    around_creation(StateMachine, _create)
    has = StateMachine.has_cfn_attr
    replace(StateMachine, "has_cfn_attr", classmethod(lambda _cls, name: name == "Arn" or has(name)))
    get = StateMachine.get_cfn_attribute
    replace(StateMachine, "get_cfn_attribute", lambda self, name: self.arn if name == "Arn" else get(self, name))


def _create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
    properties = resource["Properties"]
    text = substituted(_definition(properties), properties.get("DefinitionSubstitutions") or {})
    machine = make(name, {**resource, "Properties": {**properties, "DefinitionString": text}})
    machine.sm_type = properties.get("StateMachineType", "STANDARD")
    return machine


def _definition(properties: Mapping[str, Any]) -> str:
    if "DefinitionS3Location" in properties:
        place = properties["DefinitionS3Location"]
        found = backends.bucket_backend().get_object(place["Bucket"], place["Key"])
        if found is None:
            raise UnsupportedError(f"there is no definition at s3://{place['Bucket']}/{place['Key']}")
        return str(found.value.decode())
    if "Definition" in properties:
        return json.dumps(properties["Definition"])
    return str(properties["DefinitionString"])


def substituted(text: str, values: Mapping[str, Any]) -> str:
    """A definition with its `${Name}` placeholders filled in.

    Raises:
        UnsupportedError: a placeholder that has no value: CloudFormation would fail, too.
    """
    missing = {name for name in _PLACEHOLDER.findall(text) if name not in values}
    if missing:
        raise UnsupportedError(f"DefinitionSubstitutions has no value for {', '.join(sorted(missing))}")
    return _PLACEHOLDER.sub(lambda match: str(values[match[1]]), text)
