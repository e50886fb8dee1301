"""The HTTP/1.1 server on 127.0.0.1: keeps connections open and answers in one write.

Werkzeug's own handler closes the connection after every answer; a client that makes hundreds of calls a second then
pays for a connection and a thread each time. Here the body is read to its end first, so keeping the connection is safe.
"""

import io
import socket
from collections.abc import Iterable
from typing import Any

from moto.moto_server.werkzeug_app import MotoRequestHandler
from werkzeug.serving import ThreadedWSGIServer
from werkzeug.wrappers.request import Request

HOST = "127.0.0.1"
_IDLE_SECONDS = 120.0


class AnswerDroppedError(ConnectionResetError):
    """Raised by the application to break the connection without an answer."""


class KeepAliveHandler(MotoRequestHandler):
    """One connection, many requests."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS

    def run_wsgi(self) -> None:
        environ = self.make_environ()
        body = self._body(environ)
        environ["wsgi.input"] = io.BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ["wsgi.input_terminated"] = False
        status: list[Any] = []

        def start_response(line: str, headers: list[tuple[str, str]], _error: object = None) -> Any:
            status[:] = [line, headers]
            return None

        try:
            content = _join(self.server.app(environ, start_response))
        except AnswerDroppedError:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self._respond(status[0], status[1], content)

    def _body(self, environ: dict[str, Any]) -> bytes:
        if "chunked" in environ.get("HTTP_TRANSFER_ENCODING", ""):
            return Request(environ).stream.read()
        length = int(environ.get("CONTENT_LENGTH") or 0)
        return self.rfile.read(length) if length else b""

    def _respond(self, line: str, headers: list[tuple[str, str]], content: bytes) -> None:
        code, _, reason = line.partition(" ")
        self.send_response(int(code), reason)
        named = {name.lower() for name, _ in headers}
        for name, value in headers:
            self.send_header(name, value)
        if "content-length" not in named and int(code) not in {204, 304}:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def handle_expect_100(self) -> bool:
        """S3 clients wait a second for this line before they send a body: it must not stay in the buffer."""
        goes_on = super().handle_expect_100()
        self.wfile.flush()
        return goes_on

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Nothing: the recorder is the log of calls."""


def _join(parts: Iterable[bytes]) -> bytes:
    try:
        return b"".join(parts)
    finally:
        close = getattr(parts, "close", None)
        if close is not None:
            close()


class LoopbackServer(ThreadedWSGIServer):
    """Threads that do not outlive the process, and a backlog that holds a burst of new connections."""

    daemon_threads = True
    request_queue_size = 512

    def __init__(self, port: int, app: Any) -> None:
        super().__init__(HOST, port, app, handler=KeepAliveHandler)
