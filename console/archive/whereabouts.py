"""Where an archive lies: in the bucket of a stack, at an address in S3, or in a folder of this machine."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from console import aws
from console.asked_wrongly import AskedWronglyError
from functions.adapters.archive import S3Archive
from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader
from policies.contract.archive_names import FAMILIES

_S3 = "s3://"


def reader_of(address: str, region: str | None) -> ArchiveReader:
    """Return the archive at *address*, a folder or ``s3://bucket/prefix``; AskedWronglyError: no such folder."""
    if address.startswith(_S3):
        bucket, _, prefix = address.removeprefix(_S3).partition("/")
        client = aws.session(region, read_seconds=aws.BULK_SECONDS, tries=aws.BULK_TRIES).client("s3")
        return S3Archive(client, bucket, f"{prefix.strip('/')}/" if prefix.strip("/") else "")
    root = Path(address)
    if not root.is_dir():
        raise AskedWronglyError(
            f"{address} is no folder.", hint="Name the one that holds events/, or s3://bucket/prefix."
        )
    return FolderArchive(root)


def address_of(stack: str, region: str | None) -> str:
    """Return the address of the archive of *stack*. RelightError says what is missing."""
    from console.dlq.adapters.stacks import CloudFormationStacks

    client = aws.session(region).client("cloudformation")
    return f"{_S3}{CloudFormationStacks(client).find(stack).output('ArchiveBucket')}"


def last_days(reader: ArchiveReader, count: int | None) -> Sequence[date]:
    """Return the last *count* days (None: all) of which the archive has something, oldest first."""
    days = sorted({day for family in FAMILIES for day in reader.days(family)})
    return days if count is None else days[-count:]
