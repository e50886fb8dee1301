"""Puts the simulated services together and gives the control endpoint its handles on them."""

from local.aws.bells import Bells
from local.aws.clock import Clock
from local.aws.control import Control
from local.aws.delays import Delays
from local.aws.events.bus import Emit
from local.aws.serial import Serial
from local.aws.services import capacity_reservations, ec2_health
from local.aws.services.autoscaling import Groups
from local.aws.services.ec2_lifecycle import InstanceLifecycle
from local.aws.services.eks_endpoint import Endpoints
from local.aws.services.sagemaker_training import TrainingJobs
from local.aws.services.sqs_moves import MoveTasks


def assemble(
    *,
    control: Control,
    emit: Emit,
    delays: Delays,
    clock: Clock,
    bells: Bells,
    serial: Serial,
    region: str,
) -> None:
    """Apply all of them."""
    lifecycle = InstanceLifecycle(emit=emit, delays=delays, clock=clock, region=region)
    lifecycle.apply()
    Groups(emit=emit, delays=delays, clock=clock, serial=serial).apply()
    ec2_health.apply()
    capacity_reservations.apply()
    endpoints = Endpoints()
    endpoints.apply()
    jobs = TrainingJobs(emit=emit, delays=delays, clock=clock, region=region)
    jobs.apply()
    MoveTasks(bells).apply()
    control.register("set_instance_delays", lifecycle.set_delays)
    control.register("set_impaired", lambda **status: ec2_health.set_impaired(region=region, **status))
    control.register(
        "set_capacity_reservations",
        lambda reservations: capacity_reservations.set_all(reservations, region=region),
    )
    control.register("set_console", lambda **console: ec2_health.set_console(region=region, **console))
    control.register("set_eks_endpoint", endpoints.set)
    control.register("set_training_job", jobs.set_status)
