"""What an operator can set, from a TOML file and from the environment.

``RELIGHT_AGENT_<NAME>`` wins over the file's ``name``, and the file over the default. Decides what is a valid setting;
the description of each field is its documentation. It must not know what a setting is used for elsewhere, nor hold a
secret: credentials are the AWS SDK's business (the instance's role).
"""

import tomllib
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError

from agent.commands.settings import CommandsSettings
from agent.evidence.settings import EvidenceSettings
from agent.fabric.settings import FabricSettings
from agent.gpu.settings import GpuSettings
from agent.host.settings import HostSettings
from agent.job.settings import JobSettings
from agent.status.settings import StatusSettings
from policies.contract.envelope import explain
from policies.contract.errors import SettingsError

PREFIX = "RELIGHT_AGENT_"


JOURNAL_UNITS = (
    *("containerd.service", "kubelet.service", "systemd-networkd.service", "slurmd.service"),
    *("nvidia-fabricmanager.service", "nvidia-imex.service"),
)
SERVICE_LOGS = ("/var/log/fabricmanager.log", "/var/log/nvidia-imex.log")


def _split(value: object) -> object:
    """In the environment a list is written with commas."""
    return [word.strip() for word in value.split(",") if word.strip()] if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]


class Settings(
    GpuSettings, FabricSettings, HostSettings, JobSettings, CommandsSettings, EvidenceSettings, StatusSettings
):
    """All settings of `relight agent`. Only ``cluster`` and ``stream`` have no default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cluster: Annotated[str, Field(min_length=1, description="Name of the cluster, as Relight's deployment knows it.")]
    stream: Annotated[str, Field(min_length=1, description="Kinesis stream `faults`: its name or its ARN.")]
    overflow_queue_url: Annotated[
        str, Field(description="SQS queue for severe events while Kinesis refuses; empty: they wait for Kinesis.")
    ] = ""
    region: Annotated[
        str, Field(description="AWS region; empty: AWS_REGION, AWS_DEFAULT_REGION or the instance's metadata.")
    ] = ""

    node_name: Annotated[
        str, Field(description="Name for display (Kubernetes node, Slurm host); empty: host name.")
    ] = ""
    instance_id: Annotated[str, Field(description="EC2 instance id; empty: asked of the instance's metadata.")] = ""
    instance_type: Annotated[str, Field(description="EC2 instance type; empty: as above.")] = ""
    availability_zone: Annotated[str, Field(description="Availability zone; empty: as above.")] = ""
    boot_id: Annotated[str, Field(description="Names this boot; empty: /proc/sys/kernel/random/boot_id.")] = ""
    metadata_endpoint: Annotated[str, Field(description="Address of the instance metadata service (IMDSv2).")] = (
        "http://169.254.169.254"
    )

    kernel_log: Annotated[
        Path, Field(description="/dev/kmsg, or a file that the kernel's messages are written to.")
    ] = Path("/dev/kmsg")
    kernel_log_start: Annotated[
        Literal["auto", "beginning", "end"],
        Field(
            description="Where a log file is read from the first time. auto: from its beginning if its lines say when "
            "they were written since boot, else from its end, since old faults would pass for new ones."
        ),
    ] = "auto"
    driver_version: Annotated[
        str,
        Field(description="Version of NVIDIA's driver, 570.148.08 or R570; empty: what it says below `procfs`."),
    ] = ""
    training_logs: Annotated[
        Words,
        Field(description="Logs of training ranks, as glob patterns (** is any folders); empty: none are followed."),
    ] = ()
    training_logs_at_most: Annotated[
        int, Field(ge=1, le=512, description="How many of them are followed at a time: those written last.")
    ] = 64
    journal_units: Annotated[
        Words, Field(description="Units whose entries in systemd's journal are followed; empty: no journal is.")
    ] = JOURNAL_UNITS
    service_logs: Annotated[
        Words,
        Field(max_length=8, description="Files that services, or syslog, write to; each is followed when it is there."),
    ] = SERVICE_LOGS
    job_file: Annotated[
        Path | None,
        Field(description="JSON about the job that runs here (id, orchestrator, world_size, rank, step, checkpoint)."),
    ] = None

    procfs: Annotated[Path, Field(description="Where the node's /proc is seen; in a container perhaps /host/proc.")] = (
        Path("/proc")
    )
    sysfs: Annotated[Path, Field(description="Where the node's /sys is seen; in a container perhaps /host/sys.")] = (
        Path("/sys")
    )
    boot_grace_seconds: Annotated[
        float, Field(ge=0, description="So long after boot what is normal then (drivers, services) is no fault.")
    ] = 300

    spool_dir: Annotated[Path, Field(description="Folder for what is not yet delivered; a local disk.")] = Path(
        "/var/lib/relight/spool"
    )
    spool_max_bytes: Annotated[int, Field(ge=64 * 1024, description="How much the spool may take on disk.")] = 8 << 20
    spool_max_age_hours: Annotated[float, Field(gt=0, description="What waits for longer is given up.")] = 72.0

    heartbeat_seconds: Annotated[
        float, Field(gt=0, le=300, description="An empty envelope after this long silence.")
    ] = 30
    linger_milliseconds: Annotated[
        float, Field(ge=0, le=20, description="How long an envelope waits for a second event.")
    ] = 5
    overflow_after_seconds: Annotated[
        float, Field(ge=0, description="How long Kinesis must have refused before severe events go through SQS.")
    ] = 3
    stop_seconds: Annotated[
        float, Field(ge=0, description="How long a stop (SIGTERM) waits for what can still be delivered.")
    ] = 5

    @property
    def spool_max_age(self) -> timedelta:
        """How old an event may get in the spool."""
        return timedelta(hours=self.spool_max_age_hours)


def load_settings(path: Path | None, environ: Mapping[str, str]) -> Settings:
    """Return the settings of the file at *path*, if any, and *environ*; SettingsError says which one is wrong."""
    values = {**_read(path), **_from_environment(environ)}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        where = f"{path} and the environment" if path else "the environment"
        msg = f"the agent's settings ({where}) are not right: {explain(error)}."
        raise SettingsError(
            msg, hint=f"Set a setting in the file or as {PREFIX}<NAME>, for example {PREFIX}CLUSTER."
        ) from None


def _from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    names = {f"{PREFIX}{name.upper()}": name for name in Settings.model_fields}
    return {names[name]: value for name, value in environ.items() if name in names}


def _read(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        msg = f"the settings file {path} cannot be read ({error.strerror})."
        raise SettingsError(msg, hint="Name an existing file with --config, or leave it out.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        msg = f"the settings file {path} is not TOML: {error}."
        raise SettingsError(msg, hint='A setting is a line like: cluster = "research".') from None
