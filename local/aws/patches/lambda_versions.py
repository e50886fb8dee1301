"""A Lambda version has the attributes that CloudFormation gives it.

moto's has none, so a template that reads a version's number (as CDK's `current_version` does) does not deploy.
"""

from typing import Any

from moto.awslambda.models import LambdaVersion

from local.aws import backends
from local.aws.patches.replacing import Make, around_creation, replace

_ATTRIBUTES = frozenset({"Version", "FunctionArn"})


def apply() -> None:
    around_creation(LambdaVersion, _create)
    replace(LambdaVersion, "has_cfn_attr", classmethod(lambda _cls, name: name in _ATTRIBUTES))
    version: Any = LambdaVersion
    version.get_cfn_attribute = _attribute
    version.physical_resource_id = property(lambda self: self.relight_arn)


def _create(make: Make, name: str, resource: dict[str, Any], region: str) -> Any:
    version = make(name, resource)
    function = resource["Properties"]["FunctionName"].rsplit(":", 1)[-1]
    version.relight_arn = f"arn:aws:lambda:{region}:{backends.ACCOUNT}:function:{function}:{version.version}"
    return version


def _attribute(self: Any, name: str) -> str:
    return {"Version": str(self.version), "FunctionArn": str(self.relight_arn)}[name]
