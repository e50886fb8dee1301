"""What kubectl asks first: which groups, versions and kinds there are. Everything follows from `resources.KINDS`."""

from local.kubernetes.objects import Obj
from local.kubernetes.resources import KINDS, ResourceType

# The version whose behaviour is followed; EKS writes it with its own suffix.
_VERSION = {"major": "1", "minor": "34", "gitVersion": "v1.34.0-relight", "platform": "linux/amd64"}
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_GROUPS = sorted({(kind.group, kind.version) for kind in KINDS if kind.group})


def answer(path: str) -> Obj | None:
    """The discovery document at *path*; None when that is no discovery path."""
    parts = [part for part in path.split("/") if part]
    if len(parts) == 1:
        return _roots().get(parts[0])
    if parts == ["api", "v1"]:
        return _resource_list("", "v1")
    if parts[:1] == ["apis"] and tuple(parts[1:]) in _GROUPS:
        return _resource_list(parts[1], parts[2])
    return None


def _roots() -> dict[str, Obj]:
    well = {"kind": "Status", "apiVersion": "v1", "status": "Success", "message": "ok"}
    return {
        "version": dict(_VERSION),
        **dict.fromkeys(("healthz", "readyz", "livez"), well),
        "api": {"kind": "APIVersions", "versions": ["v1"]},
        "apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(*entry) for entry in _GROUPS]},
    }


def _group(group: str, version: str) -> Obj:
    entry = {"groupVersion": f"{group}/{version}", "version": version}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def _resource_list(group: str, version: str) -> Obj:
    kinds = [kind for kind in KINDS if (kind.group, kind.version) == (group, version)]
    resources = [entry for kind in kinds for entry in _entries(kind)]
    name = f"{group}/{version}" if group else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": resources}


def _entries(kind: ResourceType) -> list[Obj]:
    shared = {"namespaced": kind.namespaced, "kind": kind.kind}
    main = {"name": kind.plural, "singularName": kind.kind.lower(), "verbs": _VERBS, **shared}
    return [
        main,
        *({"name": f"{kind.plural}/{sub}", "verbs": ["create"], **shared} for sub in sorted(kind.subresources)),
    ]
