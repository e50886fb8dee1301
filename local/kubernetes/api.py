"""The API without sockets: a request in, an answer or a watch out.

Decides what each verb does to the store. It must not know HTTP connections, threads or the controllers.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.kubernetes import discovery, pods, selectors
from local.kubernetes.access import Access
from local.kubernetes.audit import Audit, Entry
from local.kubernetes.errors import StatusError, bad_request, forbidden, method_not_allowed
from local.kubernetes.objects import Obj
from local.kubernetes.patches import patch_for
from local.kubernetes.resources import PODS
from local.kubernetes.routes import Target, target_of
from local.kubernetes.selectors import Selector
from local.kubernetes.store import Preconditions, Store
from local.kubernetes.watches import Watch


@dataclass(frozen=True)
class Request:
    """One HTTP request. Header names are lower case; query values are the last given."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:  # noqa: ANN401 - JSON
        """The body; None when empty."""
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            raise bad_request("the body is not JSON") from None


@dataclass(frozen=True)
class Answer:
    """A status code with a JSON document."""

    code: int
    body: Obj


class Api:
    """Answers requests from the store, and audits those that write."""

    def __init__(self, store: Store, access: Access, audit: Audit) -> None:
        self._store = store
        self._access = access
        self._audit = audit

    def answer(self, request: Request) -> Answer | Watch:
        """Never raises for what a client can do wrong: that is a Status."""
        try:
            who = self._access.identify(request.headers.get("authorization", ""))
            document = discovery.answer(request.path) if request.method == "GET" else None
            return Answer(200, document) if document is not None else self._serve(who, request)
        except StatusError as error:
            return Answer(error.code, error.body())
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = bad_request(f"the request has not the shape that was expected: {error!r}")
            return Answer(wrong.code, wrong.body())

    def _serve(self, who: str, request: Request) -> Answer | Watch:
        target = target_of(request.path)
        verb = verb_of(request, target)
        if verb in {"get", "list", "watch"}:
            self._access.check(who, verb, target)
            return self._read(verb, target, request)
        try:
            self._access.check(who, verb, target)
            answer = self._write(verb, target, request)
        except StatusError as error:
            answer = Answer(error.code, error.body())
        self._audit.add(Entry(self._store.now(), who, verb, target, answer.code, _quietly(request)))
        return answer

    def _read(self, verb: str, target: Target, request: Request) -> Answer | Watch:
        if verb == "get":
            return Answer(200, self._store.get(target.kind, target.namespace, target.name))
        where = _selector(request.query)
        if verb == "watch":
            return Watch.of(self._store, target.kind, target.namespace, where, request.query)
        items, version = self._store.select(target.kind, target.namespace, where)
        meta = {"resourceVersion": version}
        kind = f"{target.kind.kind}List"
        return Answer(200, {"kind": kind, "apiVersion": target.kind.api_version, "metadata": meta, "items": items})

    def _write(self, verb: str, target: Target, request: Request) -> Answer:
        if request.query.get("dryRun"):
            raise bad_request("dryRun is not represented here")
        match verb:
            case "create":
                return self._create(target, request.json())
            case "update":
                new = _object(request.json())
                return Answer(200, self._change(target, lambda _old: new))
            case "patch":
                media = request.headers.get("content-type", "")
                return Answer(200, self._change(target, patch_for(media, target.kind, request.json())))
            case "delete":
                return Answer(200, self._delete(target, _Options.of(request)))
            case _:
                return self._delete_all(target, request)

    def _create(self, target: Target, body: object) -> Answer:
        obj = _object(body)
        if target.subresource:
            return self._act_on_pod(target, obj)
        given = obj.get("metadata", {}).get("namespace", target.namespace)
        if target.kind.namespaced and given != target.namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        new = pods.with_defaults(obj) if target.kind is PODS else obj
        return Answer(201, self._store.create(target.kind, target.namespace, new))

    def _act_on_pod(self, target: Target, body: Obj) -> Answer:
        if target.subresource == "eviction":
            options = _Options.from_body(body.get("deleteOptions") or {})
            pods.evict(self._store, target.namespace, target.name, grace=options.grace, only_if=options.only_if)
        elif target.subresource == "binding":
            bind(self._store, target.namespace, target.name, body["target"]["name"])
        else:
            raise method_not_allowed("a status is patched or replaced, not created")
        return Answer(201, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})

    def _change(self, target: Target, change: Any) -> Obj:  # noqa: ANN401 - Callable[[Obj], Obj]
        def checked(old: Obj) -> Obj:
            new: Obj = _object(change(old))
            if target.kind is PODS and not target.subresource:
                pods.check_spec(target.name, self._store.get(PODS, target.namespace, target.name), new)
            return new

        if target.subresource not in {"", "status"}:
            raise method_not_allowed(f"{target.subresource} is created, not changed")
        return self._store.update(target.kind, target.namespace, target.name, checked, subresource=target.subresource)

    def _delete(self, target: Target, options: "_Options") -> Obj:
        if target.subresource:
            raise method_not_allowed("a subresource cannot be deleted")
        if target.kind is PODS:
            return pods.delete(self._store, target.namespace, target.name, grace=options.grace, only_if=options.only_if)
        return self._store.delete(target.kind, target.namespace, target.name, options.only_if)

    def _delete_all(self, target: Target, request: Request) -> Answer:
        if target.kind.namespaced and not target.namespace:
            raise forbidden("deletecollection needs a namespace")
        items, _ = self._store.select(target.kind, target.namespace, _selector(request.query))
        for item in items:
            one = Target(target.kind, target.namespace, item["metadata"]["name"])
            self._delete(one, _Options.of(request))
        return Answer(200, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 200})


def bind(store: Store, namespace: str, name: str, node: str) -> Obj:
    """Give a pod its node; Conflict when it has one."""

    def change(pod: Obj) -> Obj:
        if pod["spec"].get("nodeName"):
            raise StatusError(409, "Conflict", f"pod {name} is already assigned to node {pod['spec']['nodeName']}")
        pod["spec"]["nodeName"] = node
        return pod

    return store.update(PODS, namespace, name, change)


@dataclass(frozen=True, slots=True)
class _Options:
    """DeleteOptions, from the body or the query."""

    grace: int | None
    only_if: Preconditions

    @classmethod
    def of(cls, request: Request) -> "_Options":
        body = request.json() or {}
        query = request.query.get("gracePeriodSeconds")
        return cls.from_body({**({} if query is None else {"gracePeriodSeconds": int(query)}), **_object(body)})

    @classmethod
    def from_body(cls, body: Obj) -> "_Options":
        wanted = body.get("preconditions") or {}
        return cls(body.get("gracePeriodSeconds"), Preconditions(wanted.get("uid"), wanted.get("resourceVersion")))


_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def verb_of(request: Request, target: Target) -> str:
    """The verb of RBAC and audit for this request; MethodNotAllowed when the path does not take the method."""
    if request.method == "GET":
        watched = request.query.get("watch", "").lower() in {"1", "true"}
        return "get" if target.name else "watch" if watched else "list"
    verb = _VERBS.get(request.method)
    if verb == "delete" and not target.name:
        return "deletecollection"
    if (
        verb is None
        or (verb != "create" and not target.name)
        or (verb == "create" and target.name and not target.subresource)
    ):
        raise method_not_allowed(f"the server does not allow {request.method} on {request.path}")
    return verb


def _selector(query: Mapping[str, str]) -> Selector:
    return selectors.both(
        selectors.labels(query.get("labelSelector", "")), selectors.fields(query.get("fieldSelector", ""))
    )


def _object(body: object) -> Obj:
    if not isinstance(body, dict):
        raise bad_request("the body must be one JSON object")
    return body


def _quietly(request: Request) -> object:
    try:
        return request.json()
    except StatusError:
        return None
