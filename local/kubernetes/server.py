"""The API on 127.0.0.1: HTTP/1.1 with kept connections, one write an answer, chunked watches."""

import contextlib
import json
import os
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from local.kubernetes.api import Answer, Api, Request
from local.kubernetes.kills import Kills
from local.kubernetes.watches import Watch
from local.peers import kill_peer

HOST = "127.0.0.1"
_LARGEST_BODY = 3 * 1024 * 1024  # the real server's limit for one object


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    server: "_Server"

    def _serve(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > _LARGEST_BODY:
            self.close_connection = True
            self.send_error(413)
            return
        address = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(address.query, keep_blank_values=True).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, address.path, query, headers, self.rfile.read(length))
        answer = self.server.api.answer(request)
        if isinstance(answer, Watch):
            self._stream(answer)
        elif self.server.kills.take(request, answer):
            self.close_connection = True
            kill_peer(self.client_address[1], self.server.server_port, ancestor=os.getpid())
        else:
            self._respond(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names http.server looks for

    def _respond(self, answer: Answer) -> None:
        content = json.dumps(answer.body, separators=(",", ":")).encode()
        self.send_response(answer.code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def _stream(self, watch: Watch) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for event in watch.events():
            if event is None:
                if self._is_gone():
                    self.close_connection = True
                    return
                continue
            line = json.dumps(event, separators=(",", ":")).encode() + b"\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _is_gone(self) -> bool:
        """Whether the watcher hung up: nothing else would tell while there is no news."""
        self.connection.settimeout(0.0)
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            self.connection.settimeout(None)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's signature
        """Nothing: the audit is the log of calls."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # `server_close` waits for them
    request_queue_size = 128

    def __init__(self, api: Api, port: int, kills: Kills) -> None:
        self.api = api
        self.kills = kills
        self._open: set[socket.socket] = set()
        super().__init__((HOST, port), _Handler)

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's signature
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:  # noqa: ANN401 - the base's signature
        super().shutdown_request(request)
        self._open.discard(request)

    def hang_up(self) -> None:
        """Break the connections that clients keep, so that their threads end."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - the base's signature
        """A client that hangs up in mid-answer is none of our faults; anything else shows its traceback."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class ApiServer:
    """Serves from `start` to `stop`."""

    def __init__(self, api: Api, port: int = 0, kills: Kills | None = None) -> None:
        self._server = _Server(api, port, kills or Kills())
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.05,), name="kubernetes-api", daemon=True)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://{HOST}:{self._server.server_address[1]}"

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
        self._server.hang_up()
        self._server.server_close()
