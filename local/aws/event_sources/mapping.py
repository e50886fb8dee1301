"""A mapping in operation: what all pollers share, whatever they poll."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.aws import backends, principals
from local.aws.bells import Bell
from local.aws.event_sources.stream_batches import Outcome
from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.recorder import Recorder

# How often a poller looks by itself, should a ring ever be missed, or a mapping be disabled or deleted meanwhile.
IDLE_SECONDS = 1.0


@dataclass(frozen=True)
class ActiveMapping:
    """One mapping and the means to serve it."""

    esm: Any  # moto's EventSourceMapping
    properties: Mapping[str, Any]
    runtime: LambdaRuntime
    recorder: Recorder
    bell: Bell

    @property
    def source_arn(self) -> str:
        return str(self.esm.event_source_arn)

    @property
    def uuid(self) -> str:
        return str(self.esm.uuid)

    def exists(self) -> bool:
        """Whether the mapping has not been deleted."""
        return self.uuid in backends.lambda_backend(self.esm.region)._event_source_mappings

    def is_enabled(self) -> bool:
        return str(self.esm.enabled).lower() == "true"

    def function(self) -> Any:
        return backends.function(self.esm.function_arn, self.esm.region)

    def invoke(self, event: Mapping[str, Any]) -> Outcome:
        """Call the function with a batch and wait."""
        invocation = self.runtime.invoke(self.function(), json.dumps(event, default=str).encode())
        return Outcome(failed=invocation.failed, response=None if invocation.failed else invocation.value())

    def record(self, *actions: str, resource: str | None = None) -> None:
        """Count grants that the poller uses under the function's role."""
        role = principals.role_name(self.function().role)
        for action in actions:
            self.recorder.record(role, action, (resource or self.source_arn,))
