"""The preloaded parent of the fleet's agents: imports the agent once and forks one process for each node.

Eight interpreters that import boto3 cost eight seconds of two cores; forks cost milliseconds. Each fork is a process
of its own with its own environment, log and process group, and can be killed by its number like any other.
One thread, so that forking is safe. Run as `python -m local.fleet.agent_parent`; requests on stdin, one JSON a line:
`{"environment": {...}, "log": path}`, answered on stdout by the process id. When stdin ends, all agents end; when
this process is killed, the kernel kills them.
"""

import contextlib
import gc
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any

import agent.main
from local.aws import model_files
from local.aws.workers.process import die_with_parent

# What an agent is a client of, sooner or later.
_SERVICES = ("kinesis", "sqs", "dynamodb", "s3")
_GRACE_SECONDS = 3.0


def serve() -> None:
    """Fork on request until the requester hangs up, then take every agent down."""
    for number in (signal.SIGINT, signal.SIGHUP):  # Ctrl-C and a closed terminal reach the whole group
        signal.signal(number, signal.SIG_IGN)  # the requester decides, and its end is the end of our stdin
    # Not the developer's: nothing of an account may be read here. An agent's environment replaces this one.
    os.environ.update(AWS_CONFIG_FILE=os.devnull, AWS_SHARED_CREDENTIALS_FILE=os.devnull)
    model_files.parse_now(_SERVICES)
    gc.freeze()
    children: set[int] = set()
    pending = b""
    while chunk := _next_chunk(children):
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            child = _fork(json.loads(line))
            children.add(child)
            sys.stdout.write(f"{child}\n")
            sys.stdout.flush()
    _end(children)


def _next_chunk(children: set[int]) -> bytes:
    while True:
        _reap(children)
        if select.select([0], [], [], 0.5)[0]:
            return os.read(0, 65536)


def _reap(children: set[int]) -> None:
    for child in list(children):
        if os.waitpid(child, os.WNOHANG)[0]:
            children.discard(child)


def _fork(request: dict[str, Any]) -> int:
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _become_agent(request, parent)
    return child


def _become_agent(request: dict[str, Any], parent: int) -> None:
    """Never returns."""
    status = 1
    try:
        die_with_parent(parent)  # however that ends: SIGKILL lets nobody end its children
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (log, 1), (log, 2)):
            os.dup2(source, target)
        os.environ.clear()
        os.environ.update(request["environment"])
        status = agent.main.main([])
    except SystemExit as exit_:
        status = exit_.code if isinstance(exit_.code, int) else 1
    except BaseException:  # noqa: BLE001 - the log is the only place left to say it
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _end(children: set[int]) -> None:
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_SECONDS
    while children and time.monotonic() < deadline:
        _reap(children)
        time.sleep(0.02)
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    for child in children:  # whoever hears that we ended may count on it that they are gone
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)


if __name__ == "__main__":
    serve()
