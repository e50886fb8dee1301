"""Where instances are in the network (DescribeInstanceTopology), which moto does not know.

The three layers are made of the instance's id, outermost first, as EC2 names them: one spine, two switches, racks of
about a quarter of the instances under each. Only running ones have a place, as there.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.responses import EC2Response


def apply() -> None:
    EC2Response.describe_instance_topology = _describe  # type: ignore[attr-defined]  # moto has none to replace


def network_path(instance_id: str) -> tuple[str, str, str]:
    """Return the network nodes above an instance, outermost first."""
    number = sum(instance_id.encode())
    return "nn-spine", f"nn-switch-{number % 2}", f"nn-rack-{number % 2}-{number // 2 % 4}"


def _describe(self: Any) -> ActionResult:
    wanted = self._get_param("InstanceIds", [])
    running = self.ec2_backend.describe_instance_status(wanted, include_all_instances=False, filters=None)
    return ActionResult({"Instances": [_placed(instance) for instance in running]})


def _placed(instance: Any) -> dict[str, Any]:
    return {
        "InstanceId": instance.id,
        "InstanceType": instance.instance_type,
        "NetworkNodes": list(network_path(instance.id)),
    }
