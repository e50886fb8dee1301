"""A process that dies at a chosen call of one of its ports, before or after the call took effect."""

from collections.abc import Callable, Iterable
from concurrent.futures import Executor as Pool
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

Anything = Any  # what a stand-in passes through
P = ParamSpec("P")
R = TypeVar("R")


class Crash(BaseException):
    """The process dies here; nothing in it may catch that."""


class Inline(Pool):
    """A pool without threads: calls run in their order, so that a crash has a place."""

    def map(self, fn: Callable[..., Anything], *iterables: Iterable[Anything], **_: Anything) -> Anything:
        return [fn(*each) for each in zip(*iterables, strict=True)]

    def submit(self, fn: Callable[..., Anything], /, *args: Anything, **kwargs: Anything) -> Future[Anything]:
        done: Future[Anything] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@dataclass
class Crashes:
    """The n-th guarded call (from 0) dies: ``before`` or ``after`` it took effect."""

    at: dict[int, str] = field(default_factory=dict)
    calls: int = 0

    def guard(self, call: Callable[P, R]) -> Callable[P, R]:
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            when = self.at.get(self.calls)
            self.calls += 1
            if when == "before":
                raise Crash
            result = call(*args, **kwargs)
            if when == "after":
                raise Crash
            return result

        return guarded


class Guarded:
    """A port some of whose calls may kill the process."""

    def __init__(self, port: object, crashes: Crashes, names: Iterable[str]) -> None:
        self._port = port
        self._crashes = crashes
        self._names = frozenset(names)

    def __getattr__(self, name: str) -> Anything:
        attribute = getattr(self._port, name)
        return self._crashes.guard(attribute) if name in self._names else attribute
