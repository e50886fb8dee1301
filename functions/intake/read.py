"""From the body of a queue's message to notices: unwraps, finds the parser by detail-type, never raises.

Decides what is known. It must not know whose instances they are.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from functions.intake import autoscaling, capacity, ec2, health, hyperpod, sagemaker
from functions.intake.notice import AwsEvent, Notice
from policies.contract.envelope import explain

Parser = Callable[[AwsEvent], tuple[Notice, ...]]


def _nothing(_event: AwsEvent) -> tuple[Notice, ...]:
    """A cluster's or a lifecycle script's progress: known, and no fact about a node."""
    return ()


PARSERS: Mapping[str, Parser] = {
    "EC2 Instance State-change Notification": ec2.state_change,
    "EC2 Spot Instance Interruption Warning": ec2.spot_interruption,
    "EC2 Instance Rebalance Recommendation": ec2.rebalance,
    "EC2 Capacity Reservation Instance Interruption Warning": capacity.interruption,
    "Capacity Block Reservation Expiration Warning": capacity.expiration,
    "Capacity Block Expiration Warning": capacity.expiration,
    "AWS Health Event": health.scheduled_change,
    "EC2 Instance-launch Lifecycle Action": autoscaling.lifecycle_action,
    "EC2 Instance-terminate Lifecycle Action": autoscaling.lifecycle_action,
    "EC2 Instance Lifecycle Action": autoscaling.lifecycle_action,
    "SageMaker Training Job State Change": sagemaker.training_job,
    "SageMaker HyperPod Cluster Node Health Event": hyperpod.node_health,
    "SageMaker HyperPod Cluster Event": _nothing,
    "SageMaker HyperPod Cluster State Change": _nothing,
}


@dataclass(frozen=True)
class Reading:
    """What a message says. ``unknown`` tells why it could not be read; a message may also rightly say nothing."""

    notices: tuple[Notice, ...] = ()
    unknown: str = ""


def read(body: str) -> Reading:
    """Return what *body* says: an EventBridge event, a lifecycle action, or one of them inside an SNS notification."""
    try:
        data = _unwrap(json.loads(body))
        if not isinstance(data, dict):
            return Reading(unknown="no JSON object")
        if autoscaling.is_test(data):
            return Reading()
        event = autoscaling.direct(data) if autoscaling.is_direct(data) else AwsEvent.model_validate(data)
        parser = PARSERS.get(event.detail_type)
        return Reading(parser(event)) if parser else Reading(unknown=f"detail-type {event.detail_type[:100]!r}")
    except ValidationError as error:
        return Reading(unknown=explain(error))
    except (ValueError, TypeError, RecursionError) as error:
        return Reading(unknown=f"{type(error).__name__}: {str(error)[:200]}")


def _unwrap(data: Any) -> Any:  # noqa: ANN401 - JSON of any shape comes in
    """Return what an SNS notification carries as text in ``Message``."""
    if isinstance(data, dict) and data.get("Type") == "Notification" and isinstance(data.get("Message"), str):
        return json.loads(data["Message"])
    return data
