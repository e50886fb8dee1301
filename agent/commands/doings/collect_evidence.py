"""Have evidence collected under the command's id, and say where it lies. It must not know what is collected."""

from agent.commands.doing import Errand, Outcome, Resource
from agent.evidence.request import Evidence, EvidenceManifest, EvidenceRequest
from policies.contract.commands.operations import CollectEvidence
from policies.contract.events import Scalar

_MOST_NAMED = 5


class CollectsEvidence:
    """`collect_evidence`. Asked twice under one id, the collector answers with what it has."""

    resource = Resource.EVIDENCE

    def __init__(self, evidence: Evidence) -> None:
        """Ask *evidence*."""
        self._evidence = evidence

    def why_not(self, params: CollectEvidence) -> str:
        """Nothing speaks against it."""
        del params
        return ""

    def run(self, params: CollectEvidence, errand: Errand) -> Outcome:
        """Collect."""
        reason = params.reason or "it was asked for"
        request = EvidenceRequest(errand.id, reason=reason, pids=params.pids, seconds=errand.left)
        return _outcome(self._evidence.collect(request))

    def look_back(self, params: CollectEvidence, errand: Errand) -> Outcome:
        """Ask again in the same boot: what is there is answered, and what was broken off is worth having."""
        if errand.rebooted:
            return Outcome(ok=False, reason="what was to be looked at is gone")
        return self.run(params, errand)


def _outcome(manifest: EvidenceManifest) -> Outcome:
    failed = [part.name for part in manifest.parts if part.error]
    kept = [part for part in manifest.parts if part.bytes]
    facts: dict[str, Scalar] = {
        "parts": len(kept),
        "bytes": sum(part.bytes for part in kept),
        "uploaded": manifest.uploaded,
        "folder": manifest.folder,
    }
    output = "".join(
        f"{part.name}: {part.bytes} bytes{f' ({part.error})' if part.error else ''}\n" for part in manifest.parts
    )
    reason = f"not had: {', '.join(failed[:_MOST_NAMED])}" if failed else ""
    return Outcome(
        ok=bool(kept),
        reason=reason or ("" if kept else "nothing"),
        output=output,
        address=manifest.address,
        facts=facts,
    )
