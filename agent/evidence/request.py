"""What is asked of the collector of evidence, and what it answers. The contract between it and whoever asks.

    manifest = wiring.evidence.collect(EvidenceRequest("cmd-7f", reason="collect_evidence of incident 3f2a"))

`collect` may be called from any thread; one collection runs at a time, and a second waits for the first within its own
``seconds``. It never raises: a part that fails is noted with its reason and stops none. It returns at the latest
``seconds`` + 5 after it began, whatever hangs. The same id asked again in the same boot answers with the manifest that
is already there and collects nothing: asking twice is harmless.

Parts lie in ``<evidence_dir>/<instance id>/<boot id>/<id>/``, mode 0600, ``manifest.json`` last, and go to
``s3://<evidence_bucket>/nodes/<node>/<boot id>/<id>/``, each as soon as it is whole; what cannot be put yet is put
later by a thread of its own, also after a restart. ``<node>`` is the instance's ARN
(`arn:aws:ec2:<region>:<account>:instance/<instance id>`), which is what the node's role is allowed to write below;
where the account is not known, the instance id.

It must not know how anything is collected.
"""

import re
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from policies.contract.errors import BadInputError

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """One collection. ``id`` names its folder: a command's id, or the id of the event that made it necessary."""

    id: str
    reason: str  # for people
    pids: tuple[int, ...] = ()  # processes to look at; none: all that hold a GPU, beat, or look like training
    seconds: float | None = None  # less than the setting, never more; None: the setting
    bytes: int | None = None  # the same

    def __post_init__(self) -> None:
        """Refuse an id that is no name of a folder."""
        if not _ID.fullmatch(self.id):
            raise BadInputError(
                f"{self.id[:100]!r} is no id of a collection.", hint="Letters, digits, '.', '_', '-'; at most 128."
            )


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """One file. ``error`` says why there is none, or why it is not whole."""

    name: str
    bytes: int = 0
    seconds: float = 0.0
    cut: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceManifest:
    """What was collected. Times are RFC 3339. ``address`` is where it is, or will be, in S3; empty: nowhere."""

    id: str
    reason: str
    instance_id: str
    boot_id: str
    began_at: str
    ended_at: str
    folder: str
    address: str
    uploaded: bool  # all of it is in S3 already; False: it will be tried again
    parts: tuple[EvidencePart, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON; a part's empty fields are left out."""
        told = asdict(self)
        told["parts"] = [{name: value for name, value in part.items() if value} for part in told["parts"]]
        return told


class Evidence(Protocol):
    """Who collects."""

    def collect(self, request: EvidenceRequest) -> EvidenceManifest:
        """Collect, as the module's docstring says."""
        ...
