"""Puts the embedded AWS together: moto, its corrections, and the parts that moto lacks."""

import functools
import json
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from moto.core.config import default_user_config
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from local.aws import backends
from local.aws.application import Application
from local.aws.bells import Bells
from local.aws.clock import Clock
from local.aws.cloudformation import creation, types
from local.aws.cloudformation.problems import Problems
from local.aws.control import Control
from local.aws.delays import Delays
from local.aws.events.bus import Bus, new_event
from local.aws.events.scheduler import Scheduler
from local.aws.faults import Fault, Faults
from local.aws.http_server import HOST, LoopbackServer
from local.aws.lambdas.asynchronous import AsyncInvoker
from local.aws.lambdas.code import CodeStore
from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.patches import (
    dynamodb_streams,
    event_source_mappings,
    events_delivery,
    iam_roles,
    instance_tracking,
    kinesis_shards,
    kinesis_template,
    lambda_invoke,
    lambda_properties,
    lambda_versions,
    logs_template,
    s3_template,
    sns_delivery,
    sqs_delivery,
    sqs_sending,
    sqs_template,
    states_callbacks,
    states_clients,
    states_executions,
    states_results,
    states_template,
    states_waiting,
)
from local.aws.recorder import Recorder
from local.aws.serial import Serial
from local.aws.services import assembly as services
from local.aws.settings import ServerSettings
from local.aws.workers.pool import WorkerPool


@dataclass(frozen=True)
class Parts:
    """What the process needs to run and to end."""

    server: LoopbackServer
    endpoint: str
    recorder: Recorder


def assemble(settings: ServerSettings, pool: WorkerPool) -> Parts:
    """Build everything; nothing is served yet."""
    instance_tracking.apply()
    iam_roles.apply()
    default_user_config["stepfunctions"]["execute_state_machine"] = True
    control, faults, delays = Control(), Faults(), Delays()
    clock, serial = Clock(settings.time_scale), Serial()
    recorder = Recorder(enabled=settings.record, account=backends.ACCOUNT)
    moto = DomainDispatcherApplication(create_backend_app)
    application = Application(moto, control=control, faults=faults, recorder=recorder, serial=serial)
    server = LoopbackServer(settings.port, application)
    endpoint = f"http://{HOST}:{server.server_port}"

    logs = settings.data_dir / "logs"
    logs.mkdir(exist_ok=True)
    code = CodeStore(settings.data_dir / "code")
    runtime = LambdaRuntime(pool=pool, code=code, logs=logs, recorder=recorder, clock=clock, endpoint=endpoint)
    asynchronous = AsyncInvoker(runtime=runtime, delays=delays, clock=clock)
    lambda_invoke.apply(runtime, asynchronous)
    lambda_properties.apply(runtime)

    bells = Bells()
    kinesis_shards.apply(bells)
    kinesis_template.apply()
    dynamodb_streams.apply(bells)
    sqs_delivery.apply(bells)
    sqs_sending.apply()
    sqs_template.apply()
    event_source_mappings.apply(runtime=runtime, recorder=recorder, bells=bells)

    problems = Problems()
    creation.apply(problems)
    types.apply()
    lambda_versions.apply()
    logs_template.apply()

    bus = Bus(region=settings.region, endpoint=endpoint, recorder=recorder, delays=delays, clock=clock)
    events_delivery.apply(bus)
    s3_template.apply(bus)
    sns_delivery.apply()
    Scheduler(bus=bus, region=settings.region, clock=clock).start()

    states_template.apply()
    states_clients.apply(endpoint)
    states_waiting.apply(clock)
    states_executions.apply()
    states_callbacks.apply()
    states_results.apply()

    control.register("published", lambda topic_arn: sns_delivery.published(topic_arn, settings.region))
    emit = functools.partial(_emit, bus, settings.region)
    control.register("emit_service_event", emit)
    services.assemble(
        control=control, emit=emit, delays=delays, clock=clock, bells=bells, serial=serial, region=settings.region
    )
    _register_controls(control, faults=faults, recorder=recorder, code=code, problems=problems)
    return Parts(server, endpoint, recorder)


def _register_controls(
    control: Control, *, faults: Faults, recorder: Recorder, code: CodeStore, problems: Problems
) -> None:
    control.register("recorded_calls", lambda: [asdict(call) for call in recorder.calls()])
    control.register("add_fault", lambda **fault: faults.add(Fault(**fault)))
    control.register("clear_faults", faults.clear)
    control.register("pending_faults", faults.pending)
    control.register("stack_problems", lambda stack: [asdict(problem) for problem in problems.of(stack)])
    control.register("register_code", lambda bucket, key, directory: code.register(bucket, key, Path(directory)))


def _emit(bus: Bus, region: str, *, source: str, detail_type: str, detail: Any, resources: list[str]) -> str:
    """Put an event on the default bus as an AWS service does; its id."""
    entry = {"Source": source, "DetailType": detail_type, "Detail": json.dumps(detail), "Resources": resources}
    event = new_event(entry, identifier=str(uuid.uuid4()), account=backends.ACCOUNT, region=region)
    bus.publish("default", event)
    return str(event["id"])
