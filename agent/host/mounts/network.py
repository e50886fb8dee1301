"""Which mounts of file servers do not answer: NFS (also EFS, FSx for OpenZFS and ONTAP) and Lustre (also FSx).

Decides what is a stall. Pure: how they are asked is not its business. An automount that nobody uses is left alone:
asking it would mount it.

A Lustre client mounted with `lazystatfs`, the default, answers for its targets of data without them: one that is gone
is told by the kernel's log (`agent.parsers.filesystem`), the metadata server by this.
"""

from agent.host.disks.mountinfo import Mount
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

# A busy server takes seconds; NFS says "not responding" after 60 s and more (nfs(5): timeo and retrans over TCP).
STALLED_SECONDS = 15.0
_TOLD_AS = {
    "nfs": (Kind.STORAGE_NFS_STALLED, Kind.STORAGE_NFS_RECOVERED),
    "nfs4": (Kind.STORAGE_NFS_STALLED, Kind.STORAGE_NFS_RECOVERED),
    "lustre": (Kind.STORAGE_LUSTRE_STALLED, Kind.STORAGE_LUSTRE_RECOVERED),
}
KINDS = frozenset(_TOLD_AS)
STALLS = frozenset(stalled for stalled, _ in _TOLD_AS.values())
# What a call that came back says about the server or the mount, not about who asked: a soft mount gave up, a handle
# that the server no longer knows, a Lustre client that was evicted (errno(3)).
_GONE = frozenset({"EIO", "ETIMEDOUT", "ESTALE", "ESHUTDOWN", "ENOTCONN", "EHOSTDOWN", "EHOSTUNREACH", "EREMOTEIO"})


def judge(mount: Mount, *, out: float | None, error: str | None) -> Holds | None:
    """Return the stall: *out* is for how many seconds a call has been under way, *error* what one came back with."""
    if error not in _GONE and (out is None or out < STALLED_SECONDS):
        return None
    kind, recovery = _TOLD_AS[mount.kind]
    server = server_of(mount)
    attributes: dict[str, Scalar] = {"mount": mount.path, "server": server, "device": mount.source}
    attributes |= {"error": error} if error else {"waited_seconds": round(out or 0.0)}
    why = f"answers {error}" if error else "does not answer"
    sighting = Sighting(kind, Severity.ERROR, Component(type=ComponentType.MOUNT), attributes)
    message = f"{mount.path} of {server} {why}"
    # Well for 30 s, longer than a stall takes to show: a prober that begins anew makes no second one of it.
    return Holds(sighting, message, cleared_after=2 * STALLED_SECONDS, recovery=recovery)


def server_of(mount: Mount) -> str:
    """Return the server's name: ``fs-1.efs.us-east-1.amazonaws.com:/`` and ``10.0.0.1@tcp:/fsx`` begin with it."""
    server, found, _ = mount.source.partition(":/")
    return server.strip("[]") if found else mount.source
