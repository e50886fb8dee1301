"""The demo's archive in a folder, once it holds all of it: `relight policy backtest` tells it again.

Decides when the archive is whole: every record that is on the stream now, and the newest version of each incident. It
must not know what is in a record.
"""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from console.archive.pulling import Pulled, pull
from console.archive.time_scale import tell_time_scale
from functions.adapters.archive import S3Archive
from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader
from local.demo.arrivals import records
from local.demo.cluster import LocalCluster
from local.demo.errors import TookTooLongError
from policies.contract.archive_names import FAMILIES, INCIDENTS
from policies.contract.errors import DependencyError
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import Told

# The writer gathers for a minute, here for a twentieth of it, and is one of three that share this machine's stream.
PATIENCE_SECONDS = 30.0
_LOOK_SECONDS = 0.5
_DAY = timedelta(days=1)


def keep_archive(cluster: LocalCluster, folder: Path) -> Pulled:
    """Copy the archive of *cluster* into *folder* when it holds what has happened so far.

    Raises:
        TookTooLongError: the writer did not keep up.
        DependencyError: the folder cannot be written.
    """
    archive = S3Archive(cluster.aws.client("s3"), cluster.outputs["ArchiveBucket"])
    bodies = set(records(cluster.aws, cluster.outputs["FaultsStream"]))
    versions = {f"{one.id}:{one.version:08d}" for one in cluster.incidents()}
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _holds(archive, bodies, versions):
        if time.monotonic() > deadline:
            raise TookTooLongError(f"the archive was not whole after {PATIENCE_SECONDS:.0f} s. Try again.")
        time.sleep(_LOOK_SECONDS)
    target = FolderArchive(folder)
    days = sorted({day for family in FAMILIES for day in archive.days(family)})
    pulled = pull(archive, target, target, days, lambda _text: None)
    mark(folder, cluster.time_scale)
    return pulled


def mark(folder: Path, time_scale: float) -> None:
    """Have the archive in *folder* tell its *time_scale*, and git pass it by, whatever it is called.

    Raises:
        DependencyError: the folder cannot be written.
    """
    try:
        tell_time_scale(folder, time_scale)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        hint = "See whether the disk is full and the folder may be written."
        raise DependencyError(f"{folder}: {error.strerror}.", hint=hint) from error


def _holds(archive: ArchiveReader, bodies: set[bytes], versions: set[str]) -> bool:
    return versions <= set(_versions(archive)) and bodies <= set(_bodies(archive))


def _bodies(archive: ArchiveReader) -> Iterator[bytes]:
    now = datetime.now(UTC)
    return (one.body for one in read_records(archive, now - _DAY, now + _DAY, Told()))


def _versions(archive: ArchiveReader) -> Iterator[str]:
    now = datetime.now(UTC)
    return (one.id for one in read_happenings(archive, INCIDENTS, now - _DAY, now + _DAY, Told()))
