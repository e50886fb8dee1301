"""Frames between the server, the zygote and the workers."""

import os
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.workers import wire


@given(body=st.binary(max_size=2000), name=st.text(max_size=20))
def test_a_frame_comes_out_as_it_went_in(body: bytes, name: str) -> None:
    left, right = socket.socketpair()
    with left, right:
        wire.send(left, {"name": name}, body)
        assert wire.receive(right) == ({"name": name}, body, [])


def test_a_large_frame_crosses_in_pieces() -> None:
    left, right = socket.socketpair()
    body = b"x" * 3_000_000
    with left, right:
        sender = threading.Thread(target=wire.send, args=(left, {}, body))
        sender.start()
        frame = wire.receive(right)
        sender.join()
    assert frame is not None
    assert frame[1] == body


def test_descriptors_ride_along() -> None:
    left, right = socket.socketpair()
    read, write = os.pipe()
    with left, right:
        wire.send(left, {}, fds=(write,))
        frame = wire.receive(right, max_fds=1)
        assert frame is not None
        os.write(frame[2][0], b"hello")
        assert os.read(read, 5) == b"hello"
        for descriptor in (read, write, frame[2][0]):
            os.close(descriptor)


def test_the_end_of_the_stream_is_none_and_a_broken_frame_is_an_error() -> None:
    left, right = socket.socketpair()
    with right:
        left.close()
        assert wire.receive(right) is None
    left, right = socket.socketpair()
    with right:
        left.sendall(b"\x00\x00")
        left.close()
        with pytest.raises(ConnectionResetError):
            wire.receive(right)
