"""Whose instance is it: node identities by instance id, kept from the time the instance ran.

A node that is gone can no longer be looked up in EC2, hence the store. It must not know DynamoDB or EC2. The twins are
`functions/twins/topology.py`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from policies.contract.envelope import NodeIdentity


@dataclass(frozen=True)
class Described:
    """What EC2 says of an instance, as far as an identity needs it."""

    instance_id: str
    name: str  # the private DNS name: what EKS calls the node
    instance_type: str
    availability_zone: str
    tags: Mapping[str, str] = field(default_factory=dict)


class TopologyStore(Protocol):
    """The fleet table's topology items, of which intake is the only writer. Failures raise DependencyError."""

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        """Return what is known, by instance id."""
        ...

    def keep(self, node: NodeIdentity, expires: datetime) -> None:
        """Write (again) who *node* is, to be forgotten after *expires*."""
        ...


class Ec2Directory(Protocol):
    """EC2's own view. Failures raise DependencyError."""

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Described]:
        """Return the instances EC2 knows of *instance_ids*, whatever their state; unknown ones are left out."""
        ...

    def places(self, instance_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the network nodes above those of *instance_ids* that EC2 tells them of, outermost first."""
        ...

    def in_reservation(self, reservation_id: str) -> Sequence[str]:
        """Return the ids of the instances that run in a capacity reservation."""
        ...
