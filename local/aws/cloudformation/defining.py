"""How a resource type that moto lacks is added: a function that makes it and says its id and attributes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from moto.core.common_models import CloudFormationModel

from local.aws.errors import UnsupportedError


@dataclass(frozen=True, slots=True)
class Request:
    """What a resource is to be: its name (made up unless the template names it), properties and place."""

    name: str
    properties: Mapping[str, Any]
    account: str
    region: str


@dataclass(frozen=True, slots=True)
class Made:
    """What was made: the value of Ref, and of each GetAtt."""

    physical_id: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


class _Resource:
    """What moto asks of a resource type, answered from three class attributes."""

    kind: ClassVar[str]
    name_property: ClassVar[str]
    make: ClassVar[Callable[[Request], Made]]

    def __init__(self, made: Made) -> None:
        self._made = made

    @property
    def physical_resource_id(self) -> str:
        return self._made.physical_id

    @classmethod
    def cloudformation_name_type(cls) -> str:
        return cls.name_property

    @classmethod
    def cloudformation_type(cls) -> str:
        return cls.kind

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:  # noqa: ARG003 - which there are shows when it is made
        return True

    def get_cfn_attribute(self, attribute: str) -> Any:
        if attribute not in self._made.attributes:
            raise UnsupportedError(f"{self.kind} has no attribute {attribute} in the embedded AWS")
        return self._made.attributes[attribute]

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_more: Any
    ) -> Any:
        return cls(cls.make(Request(resource_name, cloudformation_json["Properties"], account_id, region_name)))

    def is_created(self) -> bool:
        return True


def define(kind: str, make: Callable[[Request], Made], *, name_property: str = "") -> None:
    """Add a resource type to moto's CloudFormation, which finds types among the direct subclasses of its model."""
    own = {"kind": kind, "name_property": name_property, "make": staticmethod(make)}
    _keep.append(type(kind.replace("::", ""), (_Resource, CloudFormationModel), own))


_keep: list[type] = []
