"""`relight agent check`: what works here, what does not, and what to do about it.

Each check tries the real thing as this process: it makes the spool as a run would, sends no envelope, and takes no
record from anyone. It must not know how results are shown.
"""

import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from agent.aws import KinesisLane, SqsLane
from agent.check_result import CheckResult
from agent.commands.checks import checks as check_commands
from agent.events import loss_event
from agent.evidence.checks import checks as check_evidence
from agent.fabric.checks import checks as check_fabric
from agent.gpu.checks import checks as check_gpu
from agent.host.checks import checks as check_host
from agent.identity import InstanceMetadata, identify
from agent.job.checks import checks as check_job
from agent.journal.child import PROGRAM
from agent.main import find_region, utc_now
from agent.rights import KERNEL_LOG, journal_is_readable, missing
from agent.settings import Settings, load_settings
from agent.spool.limits import SpoolLimits
from agent.spool.opening import SpoolInUseError, open_spool
from agent.training_logs.selection import matching
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError, RelightError, SettingsError


def check_node(config: Path | None, environ: Mapping[str, str]) -> Iterator[CheckResult]:
    """Run all checks in an order in which the first failure explains the later ones."""
    try:
        settings = load_settings(config, environ)
    except SettingsError as error:
        yield CheckResult("settings", ok=False, found=error.message, hint=error.hint)
        return
    yield CheckResult("settings", ok=True, found=f"cluster {settings.cluster}, stream {settings.stream}")
    metadata = InstanceMetadata(settings.metadata_endpoint)
    yield _try("identity", lambda: _identity(identify(settings, metadata)))
    yield _kernel_log(settings.kernel_log)
    yield _try("training logs", partial(_training_logs, settings), is_here=bool(settings.training_logs))
    has_journal = bool(settings.journal_units) and shutil.which(PROGRAM) is not None
    yield _try("journal", partial(_journal, settings), is_here=has_journal)
    yield _try("spool", partial(_spool, settings))
    yield _try("job file", partial(_job_file, settings.job_file), is_here=settings.job_file is not None)
    for group in (check_gpu, check_fabric, check_host, check_job, check_commands, check_evidence):
        yield from group(settings)
    for one in missing(settings):
        if one.what != KERNEL_LOG:  # it has a check of its own
            yield CheckResult("rights", ok=True, found=f"{one.what}: off", hint=f"It takes {one.cure}.", allowed=False)
    region = partial(find_region, settings, environ, metadata)
    yield _try("kinesis", lambda: f"{settings.stream} is {KinesisLane(settings.stream, region()).check()}")
    if settings.overflow_queue_url:
        yield _try("overflow", lambda: SqsLane(settings.overflow_queue_url, region()).check())
    else:
        found = "no queue set: while Kinesis refuses, events wait on this node"
        yield CheckResult("overflow", ok=True, found=found, is_here=False)


def _try(name: str, check: Callable[[], str], *, is_here: bool = True) -> CheckResult:
    try:
        return CheckResult(name, ok=True, found=check(), is_here=is_here)
    except RelightError as error:
        return CheckResult(name, ok=False, found=error.message, hint=error.hint)


def _identity(node: NodeIdentity) -> str:
    kind = f" ({node.instance_type})" if node.instance_type else ""
    driver = f", driver {node.driver_version}" if node.driver_version else ""
    return f"{node.instance_id}{kind}, shown as {node.name}, boot {node.boot_id}{driver}"


def _kernel_log(path: Path) -> CheckResult:
    name = "kernel log"
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))
    except FileNotFoundError:
        found = f"{path} is not there yet; it is read from its beginning when it comes"
        return CheckResult(name, ok=True, found=found, is_here=False)
    except OSError as error:
        hint = "Run as root or with CAP_SYSLOG; in a container mount it and run privileged."
        found = f"{path} cannot be read ({error.strerror})."
        return CheckResult(name, ok=False, found=found, hint=hint, allowed=not isinstance(error, PermissionError))
    return CheckResult(name, ok=True, found=f"{path} is readable")


def _training_logs(settings: Settings) -> str:
    if not settings.training_logs:
        return "none set: what ranks print is not read"
    found = matching(settings.training_logs)
    barred = [one.path for one in found if not os.access(one.path, os.R_OK)]
    if barred:
        msg = f"{len(barred)} of {len(found)} training logs cannot be read, {barred[0]} first."
        raise DependencyError(
            msg, hint="Let the agent's user read them (a group, or SupplementaryGroups= in the unit)."
        )
    return f"{len(found)} files match, at most {settings.training_logs_at_most} are followed"


def _journal(settings: Settings) -> str:
    if not settings.journal_units:
        return "no units set: the journal is not read"
    if shutil.which(PROGRAM) is None:
        files = ", ".join(settings.service_logs) or "nowhere"
        return f"there is no {PROGRAM} here: what services say is read from {files}"
    if os.geteuid() and not journal_is_readable():
        msg = "the journal cannot be read."
        raise DependencyError(msg, hint="Add the agent's user to the group systemd-journal.")
    return f"{len(settings.journal_units)} units are followed"


def _spool(settings: Settings) -> str:
    try:
        node = identify(settings, InstanceMetadata(settings.metadata_endpoint))
        with open_spool(
            settings.spool_dir,
            owner=node.instance_id,
            boot_id=node.boot_id,
            limits=SpoolLimits(settings.spool_max_bytes, settings.spool_max_age),
            clock=utc_now,
            new_id=lambda: uuid.uuid4().hex,
            describe_loss=lambda spool_id, loss: loss_event(node, spool_id, loss, utc_now()),
            patience=0,
        ) as spool:
            if not spool.on_disk:
                msg = f"{settings.spool_dir} cannot be written."
                raise DependencyError(msg, hint="Free the disk, or mount it writable.")
            return f"{settings.spool_dir} is writable, {spool.waiting} events wait"
    except SpoolInUseError:
        return f"{settings.spool_dir} is in use by a running agent"


def _job_file(path: Path | None) -> str:
    if path is None:
        return "none set: events do not name a job"
    return f"{path} is there" if path.exists() else f"{path} is not there: events name no job until it is"
