"""Which kind, namespace, name and subresource a path of the API means."""

from dataclasses import dataclass

from local.kubernetes import resources
from local.kubernetes.errors import no_such_path
from local.kubernetes.resources import ResourceType


@dataclass(frozen=True, slots=True)
class Target:
    """What a request is about. `name` is empty for the whole collection, `namespace` for all of them."""

    kind: ResourceType
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def target_of(path: str) -> Target:
    """The target of `/api/v1/...` or `/apis/GROUP/VERSION/...`; NotFound for a path the server does not have."""
    parts = [part for part in path.split("/") if part]
    group, version, rest = _split_group(parts, path)
    namespace = ""
    if len(rest) >= 3 and rest[0] == "namespaces" and rest[2] != "status":  # noqa: PLR2004 - namespaces/NS/PLURAL
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = [*rest, "", "", ""][:3]
    kind = resources.find(group, version, plural)
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):  # noqa: PLR2004 - PLURAL/NAME/SUBRESOURCE
        raise no_such_path(path)
    if subresource and subresource not in kind.subresources:
        raise no_such_path(path)
    if name and kind.namespaced and not namespace:
        raise no_such_path(path)
    return Target(kind, namespace, name, subresource)


def _split_group(parts: list[str], path: str) -> tuple[str, str, list[str]]:
    match parts:
        case ["api", version, *rest] if rest:
            return "", version, rest
        case ["apis", group, version, *rest] if rest:
            return group, version, rest
        case _:
            raise no_such_path(path)
