"""What an instance shows of its health: status checks and the console, as the fleet sets them.

moto's instances are always well, and their console always says the same sample text.
"""

import base64
from typing import Any

from moto.core.responses import ActionResult
from moto.core.utils import utcnow
from moto.ec2.models import ec2_backends
from moto.ec2.models.instances import Instance
from moto.ec2.responses.general import General

from local.aws import backends
from local.aws.patches.replacing import replace

# "The most recent 64 KB of posted output" (GetConsoleOutput).
_CONSOLE_BYTES = 64 * 1024
_RUNNING = 16


def apply() -> None:
    replace(Instance, "instance_status", property(lambda self: _status(self, "instance")))
    replace(Instance, "system_status", property(lambda self: _status(self, "system")))
    replace(General, "get_console_output", _console)


def set_impaired(instance_id: str, *, region: str, instance: bool = False, system: bool = False) -> None:
    """Let the instance check, the system check or both fail; neither: the instance is well again."""
    found = _instance(instance_id, region)
    found.relight_impaired = {"instance": instance, "system": system}
    found.relight_impaired_since = utcnow()


def set_console(instance_id: str, text: str, *, region: str) -> None:
    """What the instance's serial console has printed."""
    _instance(instance_id, region).relight_console = text


def _instance(instance_id: str, region: str) -> Any:
    return ec2_backends[backends.ACCOUNT][region].get_instance(instance_id)


def _status(instance: Any, kind: str) -> dict[str, Any]:
    if instance.state_code != _RUNNING:
        return {"Status": "not-applicable"}
    if not getattr(instance, "relight_impaired", {}).get(kind, False):
        return {"Details": [{"Name": "reachability", "Status": "passed"}], "Status": "ok"}
    since = instance.relight_impaired_since
    return {
        "Details": [{"Name": "reachability", "Status": "failed", "ImpairedSince": since}],
        "Status": "impaired",
    }


def _console(self: Any) -> Any:
    instance = self.ec2_backend.get_instance(self._get_param("InstanceId"))
    text = getattr(instance, "relight_console", "").encode()[-_CONSOLE_BYTES:]
    output = base64.b64encode(text).decode()
    return ActionResult({"InstanceId": instance.id, "Timestamp": utcnow(), "Output": output})
