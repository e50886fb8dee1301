"""What the API server refuses, as the Status objects that every Kubernetes client reads."""

from local.kubernetes.objects import Obj
from local.kubernetes.resources import ResourceType


class StatusError(Exception):
    """A refusal: HTTP code, machine-readable reason, and a message for people."""

    def __init__(self, code: int, reason: str, message: str, details: Obj | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def body(self) -> Obj:
        """The Status object that goes over the wire."""
        status: Obj = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        return status if self.details is None else {**status, "details": self.details}


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized(why: str) -> StatusError:
    return StatusError(401, "Unauthorized", f"Unauthorized: {why}")


def forbidden(message: str) -> StatusError:
    return StatusError(403, "Forbidden", message)


def not_found(kind: ResourceType, name: str) -> StatusError:
    return StatusError(404, "NotFound", f'{kind.qualified} "{name}" not found', _details(kind, name))


def no_such_path(path: str) -> StatusError:
    return StatusError(404, "NotFound", f"the server could not find the requested resource: {path}")


def method_not_allowed(message: str) -> StatusError:
    return StatusError(405, "MethodNotAllowed", message)


def already_exists(kind: ResourceType, name: str) -> StatusError:
    return StatusError(409, "AlreadyExists", f'{kind.qualified} "{name}" already exists', _details(kind, name))


def conflict(kind: ResourceType, name: str, why: str) -> StatusError:
    message = f'Operation cannot be fulfilled on {kind.qualified} "{name}": {why}'
    return StatusError(409, "Conflict", message, _details(kind, name))


def expired(message: str) -> StatusError:
    return StatusError(410, "Expired", message)


def unsupported_media_type(message: str) -> StatusError:
    return StatusError(415, "UnsupportedMediaType", message)


def invalid(kind: ResourceType, name: str, why: str) -> StatusError:
    return StatusError(422, "Invalid", f'{kind.kind} "{name}" is invalid: {why}', _details(kind, name))


def too_many_requests(message: str, details: Obj) -> StatusError:
    return StatusError(429, "TooManyRequests", message, details)


def _details(kind: ResourceType, name: str) -> Obj:
    return {"name": name, "group": kind.group, "kind": kind.plural}
