"""Which Auto Scaling group an instance belongs to, also when it has just left it.

It must not change anything.
"""

from functions.acts.act import ActContext
from functions.acts.support import text_of
from functions.ports.instances import Instance, Membership

GROUP_TAG = "aws:autoscaling:groupName"  # Auto Scaling tags what it launches


def group_of(context: ActContext, instance: Instance | None, membership: Membership | None) -> str:
    """Return the group's name: from the membership, an earlier look, the instance's tag, the cluster's only one."""
    groups = context.cluster.auto_scaling_groups
    known = (
        membership.group if membership else "",
        text_of(context.progress, "group"),
        text_of(context.facts, "group"),
        instance.tags.get(GROUP_TAG, "") if instance else "",
        groups[0] if len(groups) == 1 else "",
    )
    return next(filter(None, known), "")


def why_not_ours(context: ActContext, group: str) -> str:
    """Return why *group* may not be touched for this incident; empty when it may."""
    instance_id, groups = context.node.instance_id, context.cluster.auto_scaling_groups
    if not group:
        return f"{instance_id} is in no Auto Scaling group; replace it by hand"
    if groups and group not in groups:
        ours = f"cluster {context.cluster.name} has {', '.join(groups)}"
        return f"{instance_id} is in group {group}, but {ours}; correct the cluster's settings or replace it by hand"
    return ""
