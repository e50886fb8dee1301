"""The control endpoint: what a test or the fleet simulator may ask of the server beside AWS's own API.

`POST /_relight/<name>` with a JSON object calls the function registered as `<name>` by keyword and answers its value.
It must not know what the functions do.
"""

import json
import logging
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

_log = logging.getLogger(__name__)

Action = Callable[..., Any]


class Control:
    """Names to functions."""

    PREFIX: ClassVar[str] = "/_relight/"

    def __init__(self) -> None:
        self._actions: dict[str, Action] = {}

    def register(self, name: str, action: Action) -> None:
        if name in self._actions:
            raise ValueError(f"control action {name} is registered twice")
        self._actions[name] = action

    def answer(self, path: str, body: bytes, start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request: 200 with the value, 404 for an unknown name, 400 with the reason of a refusal."""
        status, value = self._call(path.removeprefix(self.PREFIX), body)
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps(value, default=str).encode()]

    def _call(self, name: str, body: bytes) -> tuple[str, Any]:
        action = self._actions.get(name)
        if action is None:
            known = ", ".join(sorted(self._actions))
            return "404 Not Found", {"error": f"no control action {name!r}; there are: {known}"}
        try:
            return "200 OK", {"value": action(**json.loads(body or b"{}"))}
        except Exception as error:  # noqa: BLE001 - logged, and answered
            _log.exception("control action %s failed", name)
            return "400 Bad Request", {"error": f"{type(error).__name__}: {error}"}
