"""Puts the embedded AWS together: moto, its corrections, and the parts that moto lacks."""

from dataclasses import asdict, dataclass
from pathlib import Path

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
from local.aws.events.bus import Bus, Emit
from local.aws.events.scheduler import Scheduler
from local.aws.faults import Fault, Faults
from local.aws.http_server import HOST, LoopbackServer
from local.aws.lambdas.asynchronous import AsyncInvoker
from local.aws.lambdas.code import CodeStore
from local.aws.lambdas.runtime import LambdaRuntime
from local.aws.patches import (
    dispatch,
    dynamodb_answers,
    dynamodb_streams,
    event_source_mappings,
    events_delivery,
    iam_roles,
    instance_topology,
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


@dataclass(frozen=True)
class _Core:
    """What nearly every part is made with."""

    region: str
    endpoint: str
    control: Control
    recorder: Recorder
    delays: Delays
    clock: Clock
    serial: Serial
    bells: Bells


def assemble(settings: ServerSettings, pool: WorkerPool) -> Parts:
    """Build everything; nothing is served yet."""
    instance_tracking.apply()  # before any object of moto's is made
    dispatch.apply()
    instance_topology.apply()
    default_user_config["stepfunctions"]["execute_state_machine"] = True
    control, faults, serial = Control(), Faults(), Serial()
    recorder = Recorder(enabled=settings.record, account=backends.ACCOUNT)
    moto = DomainDispatcherApplication(create_backend_app)
    application = Application(moto, control=control, faults=faults, recorder=recorder, serial=serial)
    server = LoopbackServer(settings.port, application)
    endpoint = f"http://{HOST}:{server.server_port}"
    clock = Clock(settings.time_scale)
    core = _Core(settings.region, endpoint, control, recorder, Delays(), clock, serial, Bells())
    _lambda(core, settings, pool)
    _streams_and_queues(core)
    _cloudformation(core)
    emit = _events(core)
    _state_machines(core)
    _services(core, emit)
    _register_controls(control, faults=faults, recorder=recorder)
    return Parts(server, endpoint, recorder)


def _services(core: _Core, emit: Emit) -> None:
    services.assemble(
        control=core.control,
        emit=emit,
        delays=core.delays,
        clock=core.clock,
        bells=core.bells,
        serial=core.serial,
        region=core.region,
    )


def _lambda(core: _Core, settings: ServerSettings, pool: WorkerPool) -> None:
    logs = settings.data_dir / "logs"
    logs.mkdir(exist_ok=True)
    code = CodeStore(settings.data_dir / "code")
    runtime = LambdaRuntime(
        pool=pool, code=code, logs=logs, recorder=core.recorder, clock=core.clock, endpoint=core.endpoint
    )
    lambda_invoke.apply(runtime, AsyncInvoker(runtime=runtime, delays=core.delays, clock=core.clock))
    lambda_properties.apply(runtime)
    lambda_versions.apply()
    event_source_mappings.apply(runtime=runtime, recorder=core.recorder, bells=core.bells, clock=core.clock)
    core.control.register("register_code", lambda bucket, key, directory: code.register(bucket, key, Path(directory)))


def _streams_and_queues(core: _Core) -> None:
    kinesis_shards.apply(core.bells)
    kinesis_template.apply()
    dynamodb_streams.apply(core.bells)
    dynamodb_answers.apply()
    sqs_delivery.apply(core.bells)
    sqs_sending.apply()
    sqs_template.apply()


def _cloudformation(core: _Core) -> None:
    problems = Problems()
    creation.apply(problems)
    types.apply()
    iam_roles.apply()
    logs_template.apply()
    core.control.register("stack_problems", lambda stack: [asdict(problem) for problem in problems.of(stack)])


def _events(core: _Core) -> Emit:
    """EventBridge and SNS; the way in which AWS's own services put events on the default bus."""
    bus = Bus(region=core.region, endpoint=core.endpoint, recorder=core.recorder, delays=core.delays, clock=core.clock)
    events_delivery.apply(bus)
    s3_template.apply(bus)
    sns_delivery.apply()
    Scheduler(bus=bus, region=core.region, clock=core.clock).start()
    core.control.register("published", lambda topic_arn: sns_delivery.published(topic_arn, core.region))
    core.control.register("emit_service_event", bus.emit)
    return bus.emit


def _state_machines(core: _Core) -> None:
    states_template.apply()
    states_clients.apply(core.endpoint, core.region)
    states_waiting.apply(core.clock)
    states_executions.apply()
    states_callbacks.apply()
    states_results.apply()


def _register_controls(control: Control, *, faults: Faults, recorder: Recorder) -> None:
    control.register("recorded_calls", lambda: [asdict(call) for call in recorder.calls()])
    control.register("add_fault", lambda **fault: faults.add(Fault(**fault)))
    control.register("clear_faults", faults.clear)
    control.register("pending_faults", faults.pending)
