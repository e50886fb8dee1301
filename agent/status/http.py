"""Just enough of HTTP/1.1 to answer a GET: one request a connection, bounded in bytes and seconds.

Decides what is a request that it answers. It must not know sockets' addresses, nor what is told.

Source: RFC 9112, 3 (request line) and 9.6 (``Connection: close``).
"""

import json
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

MOST_BYTES = 8 * 1024
MOST_SECONDS = 5.0
_LINGER_SECONDS, _LINGER_READS = 0.2, 8
_END = b"\r\n\r\n"
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    body: str
    content: str = "text/plain; charset=utf-8"


Page = Callable[[], Answer]


def json_answer(value: object, status: int = 200) -> Answer:
    """Return *value* as JSON."""
    return Answer(status, json.dumps(value, indent=1, default=str) + "\n", "application/json")


def serve_one(connection: socket.socket, pages: Mapping[str, Page], seconds: float = MOST_SECONDS) -> None:
    """Read one request from *connection* and answer it within *seconds* each; OSError when the other end went."""
    head = _read_head(connection, time.monotonic() + seconds)
    answer = head if isinstance(head, Answer) else _answer(head, pages)
    body = answer.body.encode()
    reason = _REASONS.get(answer.status, "")
    lines = [
        f"HTTP/1.1 {answer.status} {reason}",
        f"Content-Type: {answer.content}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    ]
    connection.settimeout(seconds)
    connection.sendall("\r\n".join(lines).encode() + _END + body)
    _let_it_arrive(connection)


def _let_it_arrive(connection: socket.socket) -> None:
    """Take what is still sent, a little of it: closing with bytes unread would throw the answer away."""
    connection.shutdown(socket.SHUT_WR)
    connection.settimeout(_LINGER_SECONDS)
    with suppress(TimeoutError):
        for _ in range(_LINGER_READS):
            if not connection.recv(MOST_BYTES):
                return


def _read_head(connection: socket.socket, deadline: float) -> bytes | Answer:
    head = b""
    while _END not in head:
        left = deadline - time.monotonic()
        if left <= 0:
            return Answer(408, "the request took too long\n")
        connection.settimeout(left)
        try:
            chunk = connection.recv(MOST_BYTES)
        except TimeoutError:
            continue
        if not chunk:
            return Answer(400, "the request is not whole\n")
        head += chunk
        if len(head) > MOST_BYTES:
            return Answer(431, f"a request has at most {MOST_BYTES} bytes\n")
    return head


def _answer(head: bytes, pages: Mapping[str, Page]) -> Answer:
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):  # noqa: PLR2004 - method, target, version
        return Answer(400, "this is no request of HTTP/1.1\n")
    if words[0] != "GET":
        return Answer(405, "only GET is answered\n")
    page = pages.get(words[1].partition("?")[0])
    if page is None:
        return Answer(404, f"there are {', '.join(sorted(pages))}\n")
    try:
        return page()
    except Exception as error:  # noqa: BLE001 - whoever asks hears of it; the agent goes on
        return Answer(500, f"{type(error).__name__}: {error}\n")
