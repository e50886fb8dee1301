"""The device is stood for by a socket that keeps packets apart, as /dev/kmsg keeps records apart."""

import errno
import os
import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from agent.follow.reader import LogGap, LogRecord
from agent.kernel_log.device import DeviceReader
from tests.tools.agent_events import START

Opener = Callable[..., DeviceReader]


class Device:
    def __init__(self) -> None:
        self.here, self.there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def say(self, seq: int, text: str = "text", uptime: float = 100.0) -> None:
        self.here.send(f"3,{seq},{int(uptime * 1_000_000)},-;{text}\n".encode())


@pytest.fixture
def device() -> Iterator[Device]:
    made = Device()
    yield made
    made.here.close()
    made.there.close()


@pytest.fixture
def reader(device: Device) -> Iterator[Opener]:
    opened: list[DeviceReader] = []

    def opener(position: dict[str, Any] | None = None, boot_id: str = "boot-1") -> DeviceReader:
        descriptor = os.dup(device.there.fileno())
        os.set_blocking(descriptor, False)
        opened.append(DeviceReader(descriptor, position, boot_id=boot_id, clock=lambda: START, uptime=lambda: 100.0))
        return opened[-1]

    yield opener
    for one in opened:
        one.close()


def seqs(items: list[LogRecord | LogGap]) -> list[int | str]:
    return [item.record.seq or 0 if isinstance(item, LogRecord) else f"lost {item.lost}" for item in items]


def test_records_come_with_the_kernel_s_number(device: Device, reader: Opener) -> None:
    device.say(7)
    device.say(8)
    items = reader().read(1)
    assert [(item.key, item.position) for item in items] == [
        ("7", {"boot": "boot-1", "seq": 7}),
        ("8", {"boot": "boot-1", "seq": 8}),
    ]


def test_a_restart_on_the_same_boot_skips_what_was_read(device: Device, reader: Opener) -> None:
    for seq in (7, 8, 9):
        device.say(seq)
    assert seqs(reader({"boot": "boot-1", "seq": 8}).read(1)) == [9]


def test_another_boot_is_read_from_its_beginning(device: Device, reader: Opener) -> None:
    for seq in (1, 2):
        device.say(seq)
    assert seqs(reader({"boot": "boot-1", "seq": 800}, boot_id="boot-2").read(1)) == [1, 2]


def test_an_overrun_is_told_with_how_many_are_gone(device: Device, reader: Opener) -> None:
    opened = reader()
    device.say(7)
    assert seqs(opened.read(1)) == [7]
    device.say(20)
    items = opened.read(1)
    assert seqs(items) == ["lost 12", 20]
    assert items[0].position == {"boot": "boot-1", "seq": 19}


def test_what_was_overwritten_while_nobody_looked_is_told(device: Device, reader: Opener) -> None:
    device.say(50)
    assert seqs(reader({"boot": "boot-1", "seq": 8}).read(1)) == ["lost 41", 50]


def test_the_kernel_s_word_for_an_overrun_stops_nothing(
    device: Device, reader: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = reader()
    device.say(7)
    real, answers = os.read, [OSError(errno.EPIPE, "Broken pipe")]

    def read(descriptor: int, size: int) -> bytes:
        assert size >= 8192
        if answers:
            raise answers.pop()
        return real(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    assert seqs(opened.read(1)) == [7]


def test_fresh_records_are_dated_by_arrival_and_old_ones_by_their_age(device: Device, reader: Opener) -> None:
    device.say(1, uptime=40.0)
    device.say(2, uptime=99.5)
    old, fresh = reader().read(1)
    assert (old.at, fresh.at) == (START - timedelta(seconds=60), START)


def test_an_empty_device_answers_after_the_wait(reader: Opener) -> None:
    assert reader().read(0.01) == []
