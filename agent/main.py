"""`relight agent run`: watches this node and reports its faults until it is told to stop.

    relight agent run --config agent.toml        or, without what the console needs: python -m agent.main --config ...

Every setting may come from the environment (agent/settings.py lists them). To run one against an endpoint on this
machine, on a log that you write yourself:

    export AWS_ENDPOINT_URL=http://127.0.0.1:5000 AWS_REGION=us-east-1 AWS_ACCESS_KEY_ID=x AWS_SECRET_ACCESS_KEY=x
    export RELIGHT_AGENT_CLUSTER=demo RELIGHT_AGENT_STREAM=faults RELIGHT_AGENT_INSTANCE_ID=i-0123
    export RELIGHT_AGENT_NODE_NAME=node-1 RELIGHT_AGENT_KERNEL_LOG=/tmp/kernel.log RELIGHT_AGENT_SPOOL_DIR=/tmp/spool
    python -m agent.main &
    echo "3,1,5000000,-;NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus." \
        >> /tmp/kernel.log

Each source has a thread that reads into the spool; one sends what it holds, one syncs its file, one waits for signals.
SIGTERM and SIGINT stop the reading, send what can still be sent within ``stop_seconds``, and exit 0; the next start
sends what is left. Decides wiring and the order of start and stop. It must not know faults or wire forms.
"""

import argparse
import logging
import os
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agent.aws import KinesisLane, SqsLane
from agent.envelopes import EnvelopeMaker
from agent.events import loss_event
from agent.identity import InstanceMetadata, identify
from agent.job.table import ProcessTable
from agent.job.whereabouts import Whereabouts
from agent.job_file import JobFile
from agent.logs import log_to_stderr
from agent.polls.source import since_boot
from agent.prober.client import Prober
from agent.prober.topics import TOPICS
from agent.publisher import Clocks, Pace, Publisher
from agent.settings import Settings, load_settings
from agent.sources import sources_of
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from agent.supervise import start
from agent.vitals import Vitals
from agent.wiring import Wiring
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError, RelightError, SettingsError

log = logging.getLogger("agent")

FAILED = 1
_SIGNALS = {signal.SIGTERM, signal.SIGINT}


def utc_now() -> datetime:
    """Return the wall clock's time: the only place where the agent reads it."""
    return datetime.now(UTC)


def run(config: Path | None, environ: Mapping[str, str], stop: threading.Event) -> None:
    """Run the agent until *stop*; SettingsError when it cannot begin."""
    settings = load_settings(config, environ)
    metadata = InstanceMetadata(settings.metadata_endpoint)
    node = identify(settings, metadata)
    region = find_region(settings, environ, metadata)
    limits = SpoolLimits(settings.spool_max_bytes, settings.spool_max_age)
    with open_spool(
        settings.spool_dir,
        owner=node.instance_id,
        boot_id=node.boot_id,
        limits=limits,
        clock=utc_now,
        new_id=lambda: uuid.uuid4().hex,
        describe_loss=lambda spool_id, loss: loss_event(node, spool_id, loss, utc_now()),
    ) as spool:
        log.info("agent starts", extra={"node": node.name, "instance": node.instance_id, "waiting": spool.waiting})
        left = _work(settings, node, spool, region, stop)
        log.info("agent stops", extra={"waiting": left})


def _work(settings: Settings, node: NodeIdentity, spool: Spool, region: str, stop: threading.Event) -> int:
    publisher = make_publisher(settings, node, spool, region)
    silent = threading.Event()
    threading.Thread(target=spool.keep_durable, args=(silent,), name="disk", daemon=True).start()
    vitals, prober = Vitals(since_boot), Prober(TOPICS)
    table = ProcessTable(settings.beats, settings.procfs, since_boot, host_name=os.uname().nodename)
    whereabouts = Whereabouts(JobFile(settings.job_file), table, settings.procfs)
    wiring = Wiring(settings, node, spool, utc_now, whereabouts, table, vitals, prober)
    reading = [start(name, run, stop, vitals) for name, run in sources_of(wiring).items()]
    sending = start("publisher", publisher.run, silent, vitals)
    stop.wait()
    deadline = time.monotonic() + settings.stop_seconds
    for thread in reading:
        thread.join(max(0.0, deadline - time.monotonic()))
    prober.close()
    silent.set()
    spool.wake()
    sending.join(settings.stop_seconds)
    return publisher.drain(settings.stop_seconds) if not sending.is_alive() else spool.waiting


def make_publisher(settings: Settings, node: NodeIdentity, spool: Spool, region: str) -> Publisher:
    """Return what sends the events of *spool* to AWS."""
    queue = settings.overflow_queue_url
    return Publisher(
        spool,
        EnvelopeMaker(node, agent_version()),
        kinesis=KinesisLane(settings.stream, region),
        overflow=SqsLane(queue, region) if queue else None,
        pace=Pace(
            heartbeat=settings.heartbeat_seconds,
            overflow_after=settings.overflow_after_seconds,
            linger=settings.linger_milliseconds / 1000,
        ),
        clocks=Clocks(utc_now, time.monotonic),
        jitter=random.random,
    )


def find_region(settings: Settings, environ: Mapping[str, str], metadata: InstanceMetadata) -> str:
    """Return the AWS region; SettingsError when nobody says it."""
    region = settings.region or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if region:
        return region
    try:
        return metadata("placement/region")
    except DependencyError as error:
        msg = f"nobody says which AWS region this is ({error.message})"
        raise SettingsError(msg, hint="Set RELIGHT_AGENT_REGION.") from error


def agent_version() -> str:
    """Return the installed version, empty when run from a bare folder."""
    try:
        return version("relight")
    except PackageNotFoundError:
        return ""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the agent as a process: JSON lines on stderr, SIGTERM and SIGINT end it; return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m agent.main", description="Watch this node and report its faults.")
    add_config(parser)
    return run_process(parser.parse_args(arguments).config)


def add_config(parser: argparse.ArgumentParser) -> None:
    """Declare --config."""
    parser.add_argument("--config", type=Path, help="settings as TOML; RELIGHT_AGENT_<NAME> in the environment wins")


def _stop_at_signal(stop: threading.Event) -> None:
    signal.sigwait(_SIGNALS)
    stop.set()


def run_process(config: Path | None) -> int:
    """Do what `main` says, with the settings of *config*."""
    log_to_stderr()
    stop = threading.Event()
    # Blocked in every thread and fetched by one: a handler would run inside whatever holds the lock that it needs.
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    threading.Thread(target=_stop_at_signal, args=(stop,), name="signals", daemon=True).start()
    try:
        run(config, os.environ, stop)
    except RelightError as error:
        log.critical(error.message, extra={"hint": error.hint})
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
