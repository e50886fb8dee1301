"""The ways in which moto is changed: an attribute replaced, or something done around a creation from a template."""

from collections.abc import Callable
from typing import Any

Make = Callable[[str, dict[str, Any]], Any]


def replace(owner: Any, name: str, new: Any) -> Any:
    """Put `new` in place of `owner.name` and return what stood there.

    Raises:
        AttributeError: moto no longer has it, so the correction needs a second look.
    """
    old = owner.__dict__[name] if name in vars(owner) else getattr(owner, name)
    setattr(owner, name, new)
    return old


def around_creation(model: Any, around: Callable[[Make, str, dict[str, Any], str], Any]) -> None:
    """Let `around(make, name, resource, region)` create a model's resources from templates; `make` is moto's way."""
    original = model.create_from_cloudformation_json.__func__

    def create(cls: Any, /, name: str, resource: dict[str, Any], account: str, region: str, **more: Any) -> Any:
        def make(name: str, resource: dict[str, Any]) -> Any:
            return original(cls, name, resource, account, region, **more)

        return around(make, name, resource, region)

    model.create_from_cloudformation_json = classmethod(create)
