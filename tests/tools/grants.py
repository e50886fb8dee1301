"""Which grants of the template's roles are used, and why the others stay: ``python -m tests.tools.grants [--write]``.

Each story on the embedded AWS leaves a record of what was used in ``build/grants``. This tool holds the records of all
stories against the synthesised template and writes docs/grants.md; without ``--write`` it says in what the page and
the template differ, which needs no record and is a test.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from infra.synth import synthesise
from local.aws.iam import check, grants_of, roles_of
from local.aws.recorder_types import RecordedCall
from local.demo.cluster import STACK, LocalCluster
from local.fleet.infrastructure import NODE_ROLE

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "grants.md"
RECORDS = ROOT / "build" / "grants"
NODE = "Node"
USED = "used"
_HASH = re.compile(r"(Role)?[0-9A-F]{8}$")  # what the CDK puts behind a logical id
_ROW = re.compile(r"^\| (?P<role>\w+) \| (?P<sid>\w+) \| (?P<action>[\w:]+) \| (?P<why>.+) \|$")

# (role, statement, action) as patterns → why a grant that no story uses stays. The first that fits counts.
REASONS: tuple[tuple[str, str, str, str], ...] = (
    (".*", "KeepDropped(List)?", ".*", "Lambda puts a batch there that a mapping gives up after twelve hours"),
    ("Workflow", "LogDelivery", ".*", "Step Functions keeps the executions' log under it; the embedded AWS keeps none"),
    ("Sagemaker", ".*", ".*", "for SageMaker training jobs; told in tests/integration/sagemaker"),
    ("Coordinate", "SelfShadow", ".*", "a policy that acts too often puts itself in shadow; told in tests/contracts"),
    ("Coordinate", "Runs", ".*", "the sweep looks up an execution that was silent for three minutes"),
    ("Guard", "Notices", ".*", "an edit that is refused, or a deletion, is told; told in tests/integration/console"),
    (
        "Guard",
        "Policies",
        "dynamodb:Query",
        "what was changed by hand is written anew; told in tests/integration/console",
    ),
    (
        "Guard",
        "Policies",
        "dynamodb:BatchGetItem",
        "looks every quarter of an hour at each policy that was ever accepted",
    ),
    (
        "Guard",
        "Policies",
        "dynamodb:DeleteItem",
        "removes an answer that lay beside an item without room for it; told in tests/contracts",
    ),
    ("Guard", "Policies", "dynamodb:Scan", "looks every quarter of an hour for edits that the stream never told of"),
    (
        "Triage",
        "Policies",
        "dynamodb:Scan",
        "looks for all heads where their listing is gone; told in tests/integration/guard",
    ),
    ("Guard", "DeadLetters", ".*", "Lambda sends such a look there that failed three times"),
    ("Instances", "Fence", ".*", "fence_node stops a silent instance that no group would replace"),
    ("Instances", "Describe", "autoscaling:DescribeScalingActivities", "says why a group launches no successor"),
    ("Instances", "Describe", "ec2:DescribeInstanceStatus", "a silent node's second witness; told in the demo"),
    ("Report", "DeadLetters", ".*", "Lambda sends a report there that failed three times"),
    ("Report", ".*", ".*", "made once a week; told in tests/integration/console"),
    ("Sweep", "(Describe|Fleet)", ".*", "for a node that fell silent; told in the demo"),
    ("Node", "Evidence", ".*", "simulated nodes keep theirs; a real bucket is told in tests/integration/agent"),
    ("Nodes|Evidence", "Commands", "dynamodb:UpdateItem", "gives up a command that no agent began in time"),
    ("Sweep", "Capacity", "autoscaling:DescribeWarmPool", "for groups that have a warm pool; told in tests/unit"),
    ("Sweep", "DeadLetters", ".*", "Lambda sends a sweep there that failed three times"),
)


class GrantKey(NamedTuple):
    """One action in one statement of one role, by names that outlive a deployment."""

    role: str
    sid: str
    action: str


def stories_roles(cluster: LocalCluster) -> dict[str, list[Mapping[str, Any]]]:
    """The stack's roles by their physical names, and the role of the nodes with the policy that the stack gives out."""
    return roles_of(cluster.aws, STACK, NODE_ROLE)


def keep_record(name: str, cluster: LocalCluster, calls: Sequence[RecordedCall]) -> None:
    """Note which grants were used in the stories of this *name*."""
    roles = stories_roles(cluster)
    short = _short_names(cluster)
    unused = set(check(calls, roles).unused)
    used = {GrantKey(short[each.role], each.sid, each.action) for each in grants_of(roles) if each not in unused}
    RECORDS.mkdir(parents=True, exist_ok=True)
    (RECORDS / f"{name}.json").write_text(json.dumps(sorted(used)) + "\n", encoding="utf-8")


def _short_names(cluster: LocalCluster) -> dict[str, str]:
    listed = cluster.aws.client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
    roles = [each for each in listed if each["ResourceType"] == "AWS::IAM::Role"]
    return {each["PhysicalResourceId"]: _HASH.sub("", each["LogicalResourceId"]) for each in roles} | {NODE_ROLE: NODE}


def granted(template: Mapping[str, Any]) -> list[GrantKey]:
    """Everything that the template's roles, and its policy for nodes, allow."""
    return sorted(_granted(template["Resources"]))


def _granted(resources: Mapping[str, Any]) -> Iterator[GrantKey]:
    for logical_id, resource in resources.items():
        properties = resource.get("Properties", {})
        if resource["Type"] == "AWS::IAM::Role":
            policies = [each["PolicyDocument"] for each in properties.get("Policies", [])]
            yield from _allowed(_HASH.sub("", logical_id), policies)
        elif resource["Type"] == "AWS::IAM::ManagedPolicy":
            yield from _allowed(NODE, [properties["PolicyDocument"]])


def _allowed(role: str, policies: Iterable[Mapping[str, Any]]) -> Iterator[GrantKey]:
    for policy in policies:
        for statement in policy["Statement"]:
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            yield from (GrantKey(role, statement["Sid"], action) for action in actions)


def why_unused(grant: GrantKey) -> str:
    """Why this grant stays although no story uses it; empty when nobody has said."""
    for *patterns, reason in REASONS:
        if all(re.fullmatch(pattern, value) for pattern, value in zip(patterns, grant, strict=True)):
            return reason
    return ""


def recorded() -> dict[GrantKey, set[str]]:
    """Grant → the stories that used it."""
    found: dict[GrantKey, set[str]] = {}
    for path in sorted(RECORDS.glob("*.json")):
        for row in json.loads(path.read_text(encoding="utf-8")):
            found.setdefault(GrantKey(*row), set()).add(path.stem)
    return found


def render(grants: Sequence[GrantKey], used: Mapping[GrantKey, object]) -> str:
    """Return the page."""
    unused = [grant for grant in grants if grant not in used]
    head = f"""# Grants

What the template's roles, and its policy for nodes, allow: {len(grants)} actions. {len(grants) - len(unused)} of them
were used when the stories of tests/integration/stories were told on the embedded AWS, where every call of these roles
is held against their policies. For each of the other {len(unused)} stands why it stays.

Written by `python -m tests.tools.grants --write` from the records of those stories.
"""
    others = {grant: USED for grant in grants if grant in used}
    return "\n".join(
        [
            head,
            *_table("Never used in a story", {grant: why_unused(grant) for grant in unused}),
            "",
            *_table("Used", others),
            "",
        ]
    )


def _table(title: str, told: Mapping[GrantKey, str]) -> list[str]:
    rows = [f"| {grant.role} | {grant.sid} | {grant.action} | {why} |" for grant, why in told.items()]
    return [f"## {title}", "", "| role | statement | action | why it stays |", "|---|---|---|---|", *rows]


def read_page(page: Path = PAGE) -> dict[GrantKey, str]:
    """Grant → why it stays, as the page says."""
    rows = map(_ROW.match, page.read_text(encoding="utf-8").splitlines())
    return {
        GrantKey(row["role"], row["sid"], row["action"]): row["why"]
        for row in rows
        if row and row["sid"] != "statement"
    }


def differences(told: Mapping[GrantKey, str], grants: Sequence[GrantKey]) -> list[str]:
    """Return in what the page and the template differ, and which grants stay without a reason."""
    missing = [
        f"{' '.join(grant)} is granted, and the page does not say why" for grant in grants if not told.get(grant)
    ]
    gone = [f"{' '.join(grant)} is on the page and no longer granted" for grant in told if grant not in grants]
    return missing + gone


def main(arguments: Sequence[str]) -> int:
    """Run the tool; 1 when the page and the template differ."""
    template = json.loads(synthesise(ROOT / "build" / "cdk.out").read_text(encoding="utf-8"))
    grants = granted(template)
    if "--write" in arguments:
        used = recorded()
        if not used:
            sys.stderr.write("no records: run `pytest tests/integration/stories` first\n")
            return 1
        PAGE.write_text(render(grants, used), encoding="utf-8")
    problems = differences(read_page(), grants)
    for problem in problems:
        sys.stderr.write(f"{problem}; tell the stories (pytest tests/integration/stories), then write the page\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
