"""Programs on loopback that answer where AWS is looked for, and are not AWS; one says nothing at all."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PAGE = b"<!DOCTYPE html><html><head><title>Sign in</title></head><body>Welcome<br></body></html>"


@dataclass(frozen=True)
class Saying:
    """What is answered to everything."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


HTML = (("Content-Type", "text/html"),)
STRANGERS = {
    "404, empty": Saying(404),
    "200, a page": Saying(200, PAGE, HTML),
    "200, an empty object": Saying(200, b"{}", (("Content-Type", "application/x-amz-json-1.0"),)),
    "200, nothing": Saying(200),
    "302, elsewhere": Saying(302, b"", (("Location", "http://sign-in.invalid/"),)),
    "403, a page": Saying(403, PAGE, HTML),
    "500, a page": Saying(500, PAGE, HTML),
    "503, garbage": Saying(503, b"\x00\xff<<not at all", ()),
    "200, garbage": Saying(200, b"\x00\xff<<not at all", (("Content-Type", "application/octet-stream"),)),
}


@contextmanager
def stranger(saying: Saying) -> Iterator[str]:
    """Serve *saying* for whatever is asked; the value is the address."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(saying.status)
            for name, value in saying.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(saying.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(saying.body)

        do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer  # noqa: N815 - names of http.server

        def log_message(self, *_args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def silence() -> Iterator[socket.socket]:
    """Take connections and never answer; closing what is yielded ends them."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        yield listening


def address_of(listening: socket.socket) -> str:
    """Return where *listening* is, as AWS_ENDPOINT_URL has it."""
    return f"http://127.0.0.1:{listening.getsockname()[1]}"
