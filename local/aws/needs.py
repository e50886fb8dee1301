"""The rights that a call needs: IAM actions on resources, with what conditions may ask for, best effort."""

from local.aws import action_names, call_context, resources
from local.aws.calls import Call
from local.aws.recorder_types import Need

# Calls that hand a role to a service need the right to pass it, too.
_PASSES = {"sagemaker:CreateTrainingJob": ("RoleArn", "sagemaker.amazonaws.com")}


def needs_of(call: Call, account: str) -> list[Need]:
    """What the caller must be allowed to do."""
    touched = resources.touched(call, account)
    context = call_context.context_of(call, touched)
    needs = [Need(action, touched, context) for action in action_names.actions(call)]
    passed = _PASSES.get(f"{call.service}:{call.operation}")
    if passed is not None and passed[0] in call.parameters:
        role = str(call.parameters[passed[0]])
        needs.append(Need("iam:PassRole", (role,), (("iam:PassedToService", (passed[1],)),)))
    return needs
