"""Frames between the server, the zygote and the workers: a JSON header and raw bytes, over a stream socket.

It must know neither Lambda nor moto: it is imported before anything heavy, and in every worker.
"""

import json
import socket
import struct
from typing import Any

_SIZES = struct.Struct("!II")

Header = dict[str, Any]


def send(channel: socket.socket, header: Header, body: bytes = b"", fds: tuple[int, ...] = ()) -> None:
    """Send one frame; file descriptors ride on its first byte.

    Raises:
        OSError: the other end is gone.
    """
    head = json.dumps(header, separators=(",", ":")).encode()
    frame = _SIZES.pack(len(head), len(body)) + head + body
    if fds:
        sent = socket.send_fds(channel, [frame], list(fds))
        frame = frame[sent:]
    channel.sendall(frame)


def receive(channel: socket.socket, max_fds: int = 0) -> tuple[Header, bytes, list[int]] | None:
    """The next frame with its file descriptors; None at the end of the stream.

    Raises:
        TimeoutError: the channel has a timeout and it passed.
        OSError: the other end broke off.
    """
    fds: list[int] = []
    if max_fds:
        first, fds, _flags, _address = socket.recv_fds(channel, 1, max_fds)
    else:
        first = channel.recv(1)
    if not first:
        return None
    sizes = first + _exactly(channel, _SIZES.size - 1)
    head_size, body_size = _SIZES.unpack(sizes)
    header: Header = json.loads(_exactly(channel, head_size))
    return header, _exactly(channel, body_size), fds


def _exactly(channel: socket.socket, size: int) -> bytes:
    if size == 0:
        return b""
    buffer = bytearray(size)
    view = memoryview(buffer)
    done = 0
    while done < size:
        count = channel.recv_into(view[done:])
        if count == 0:
            raise ConnectionResetError("the stream ended inside a frame")
        done += count
    return bytes(buffer)
