"""What a finding says of hardware that a policy acted on before: AWS's own word, or the same fault once more.

The same fault on the instance that took a replaced one's place says that the act did not cure, so that sound hardware
was given up; on a node that was mended it says that the hardware was faulty, and still is. It must not know where the
finding came from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from policies.contract.decisions import Finding
from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote
from policies.precision.record import Act, Grade, Ground, Record

# Amazon EC2, "Status checks" (impaired: the underlying host, or the instance's own) and "Instance retirement" (AWS
# detects irreparable failure of the underlying hardware): AWS's own finding about the hardware, not the agent's.
AWS_SAYS = frozenset({Kind.INSTANCE_STATUS_IMPAIRED, Kind.INSTANCE_RETIREMENT_SCHEDULED})
AWS_WITHIN = timedelta(days=7)
AGAIN_WITHIN = timedelta(hours=24)


@dataclass(frozen=True)
class Sign:
    """That *policy* found *kind* on a node, at that moment by the node's clock."""

    policy: str
    kind: str
    node: str
    generation: str
    at: datetime

    @classmethod
    def of(cls, finding: Finding) -> "Sign":
        """Return what *finding* says."""
        policy, node = finding.policy.name, finding.node.instance_id
        return cls(policy, finding.kind.value, node, finding.generation, finding.observed_at)

    @classmethod
    def noted(cls, note: FindingNote, node: str, generation: str) -> "Sign":
        """Return what *note* of an incident about *node* says."""
        return cls(note.policy, note.kind.value, note.node or node, generation, note.observed_at)


def grounds_of(act: Act, policy: str, sign: Sign) -> Iterator[Ground]:
    """Yield what *sign* says of the hardware that *act* of *policy* touched."""
    if sign.kind in AWS_SAYS and sign.generation == act.generation and _follows(sign, act.at, AWS_WITHIN):
        yield Ground(grade=Grade.AWS, faulty=True, at=sign.at, why=f"AWS said {sign.kind} of {sign.node}")
    again = act.changed_at is not None and _follows(sign, act.changed_at, AGAIN_WITHIN)
    if sign.policy != policy or not again:
        return
    if act.replaced and sign.node == act.successor:
        yield _again(sign, faulty=False, why=f"the same came on {sign.node}, which took its place")
    elif not act.replaced and sign.node == act.node:
        yield _again(sign, faulty=True, why=f"the same came again on {sign.node}")


def heard(record: Record, signs: Iterable[Sign]) -> list[tuple[str, Ground]]:
    """Return what *signs* say of the acts in *record*, each with its incident."""
    acts: dict[str, dict[str, Act]] = {}
    for act in record.acts:
        for node in (act.node, act.successor):
            acts.setdefault(node, {})[act.incident] = act
    return [
        (act.incident, ground)
        for sign in signs
        for act in acts.get(sign.node, {}).values()
        for ground in grounds_of(act, record.policy, sign)
    ]


def _follows(sign: Sign, moment: datetime, within: timedelta) -> bool:
    return timedelta() < sign.at - moment <= within


def _again(sign: Sign, *, faulty: bool, why: str) -> Ground:
    return Ground(grade=Grade.RECURRENCE, faulty=faulty, at=sign.at, why=why)
