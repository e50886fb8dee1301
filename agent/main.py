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

SIGTERM and SIGINT stop the reading, send what can still be sent within ``stop_seconds``, and exit 0; the next start
sends what is left. SIGHUP, or a change of the file, reads the settings again. `agent.runtime` does the work. Decides
where settings, identity and lanes come from. It must not know faults or wire forms.
"""

import argparse
import logging
import os
import random
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from agent.aws import KinesisLane, SqsLane
from agent.driver import LoadedDriver, version_file
from agent.envelopes import EnvelopeMaker
from agent.events import loss_event
from agent.identity import InstanceMetadata, identify
from agent.job.told import JobsTold
from agent.logs import log_to_stderr
from agent.memory import share_one_arena
from agent.polls.source import since_boot
from agent.publisher import Clocks, Pace, Publisher
from agent.runtime import STEP_SECONDS, Around, Runtime
from agent.settings import Settings, load_settings
from agent.signs import Signs, WatchedFile
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.errors import DependencyError, RelightError, SettingsError

log = logging.getLogger("agent")

FAILED = 1


def utc_now() -> datetime:
    """Return the wall clock's time: the only place where the agent reads it."""
    return datetime.now(UTC)


def run(config: Path | None, environ: Mapping[str, str], signs: Signs) -> None:
    """Run the agent until it is told to stop; SettingsError when it cannot begin."""
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
        driver = LoadedDriver(settings.driver_version, version_file(settings.procfs))
        around = Around(node, region, metadata, environ, utc_now, agent_version(), driver)
        jobs = JobsTold(since_boot)
        runtime = Runtime(settings, around, spool, make_publisher(settings, around, spool, jobs), jobs)
        runtime.begin()
        _watch(runtime, config, environ, signs)
        log.info("agent stops", extra={"waiting": runtime.end(settings.stop_seconds)})


def _watch(runtime: Runtime, config: Path | None, environ: Mapping[str, str], signs: Signs) -> None:
    file = WatchedFile(config)
    while not signs.stop.wait(STEP_SECONDS):
        if file.changed() or signs.take_reload():
            runtime.reload(lambda: load_settings(config, environ))
        runtime.step()


def make_publisher(settings: Settings, around: Around, spool: Spool, jobs: Callable[[], bytes]) -> Publisher:
    """Return what sends the events of *spool* to AWS, and what *jobs* says beside them."""
    queue = settings.overflow_queue_url
    return Publisher(
        spool,
        EnvelopeMaker(around.node, around.version, around.driver.version),
        kinesis=KinesisLane(settings.stream, around.region),
        overflow=SqsLane(queue, around.region) if queue else None,
        pace=Pace(
            heartbeat=settings.heartbeat_seconds,
            overflow_after=settings.overflow_after_seconds,
            linger=settings.linger_milliseconds / 1000,
        ),
        clocks=Clocks(utc_now, time.monotonic),
        jitter=random.random,
        jobs=jobs,
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


def run_process(config: Path | None) -> int:
    """Do what `main` says, with the settings of *config*."""
    share_one_arena()
    log_to_stderr()
    signs = Signs()
    signs.listen()
    try:
        run(config, os.environ, signs)
    except RelightError as error:
        log.critical(error.message, extra={"hint": error.hint})
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
