"""What happens to a request on its way to moto: named, perhaps failed on purpose, done under a lock, recorded.

It holds no state of its own; the parts that do come in by keyword.
"""

import logging
import os
from collections.abc import Callable, Iterable
from typing import Any

from local.aws.browsers import is_from_a_browser
from local.aws.calls import Call, read_call
from local.aws.control import Control
from local.aws.error_answers import respond
from local.aws.faults import Faults
from local.aws.http_server import AnswerDroppedError
from local.aws.recorder import Recorder
from local.aws.serial import Serial
from local.peers import NoSuchPeerError, kill_peer

_log = logging.getLogger(__name__)

StartResponse = Callable[..., Any]
WsgiApp = Callable[[dict[str, Any], StartResponse], Iterable[bytes]]


class Application:
    """The WSGI application of the embedded AWS."""

    def __init__(self, moto: WsgiApp, *, control: Control, faults: Faults, recorder: Recorder, serial: Serial) -> None:
        self._moto = moto
        self._control = control
        self._faults = faults
        self._recorder = recorder
        self._serial = serial

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        if is_from_a_browser(environ):
            start_response("403 Forbidden", [("Content-Type", "text/plain")])
            return [b"the embedded AWS answers no web pages"]
        body = environ["wsgi.input"].read()
        environ["wsgi.input"].seek(0)
        if environ["PATH_INFO"].startswith(self._control.PREFIX):
            return self._control.answer(environ["PATH_INFO"], body, start_response)
        call = read_call(environ, body)
        if call is None:
            return self._moto(environ, start_response)
        self._record(call)
        fault = self._faults.take(call)
        if fault is None:
            return self._serve(call, environ, start_response)
        if fault.error_code is not None:
            return respond(call.service, fault.error_code, fault.message, start_response)
        if fault.kill != "before":
            self._serve(call, environ, start_response)
        if fault.kill is not None:
            try:
                _kill_caller(environ)
            except NoSuchPeerError as error:
                return respond(call.service, "InternalFailure", str(error), start_response)
        raise AnswerDroppedError("this answer is dropped on purpose")

    def _record(self, call: Call) -> None:
        try:
            with self._serial.of(call.service):
                self._recorder.record_call(call)
        except Exception:  # noqa: BLE001 - logged: what cannot be recorded must still be done
            _log.exception("%s:%s could not be recorded", call.service, call.operation)

    def _serve(self, call: Call, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        try:
            with self._serial.of(call.service):
                return list(self._moto(environ, start_response))
        except Exception as error:  # noqa: BLE001 - logged, and answered as an error of the service
            _log.exception("%s:%s failed inside moto", call.service, call.operation)
            text = f"the embedded AWS failed inside: {type(error).__name__}: {error}"
            return respond(call.service, "InternalFailure", text, start_response)


def _kill_caller(environ: dict[str, Any]) -> None:
    """Workers descend from this process, agents from the one that started it."""
    pid = kill_peer(int(environ["REMOTE_PORT"]), int(environ["SERVER_PORT"]), ancestor=os.getppid())
    _log.warning("killed process %s in mid-call, on purpose", pid)
