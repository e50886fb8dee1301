"""Connects the choice, which asks for reads, to a bucket.

It must not judge.
"""

from collections.abc import Callable

from functions.ports.objects import Location, Objects
from policies.checkpoints.listing import Tree
from policies.checkpoints.model import Read


def tree_at(objects: Objects, where: Location) -> Tree:
    """Return what lies at *where*, by folder."""
    return Tree.of(objects.list(where), name=where.prefix.rpartition("/")[2])


def reader_at(objects: Objects, where: Location) -> Callable[[Read], bytes]:
    """Return what serves reads relative to *where*."""
    return lambda read: objects.read(where.bucket, where.key(read.entry.key), read.start, read.length)
