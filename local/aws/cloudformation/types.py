"""The resource types that moto's CloudFormation lacks and our template may use."""

import json
from typing import Any

from moto.awslambda.models import EventInvokeConfig
from moto.dynamodb.models.table import Table
from moto.events.models import Archive, EventBus

from local.aws import backends
from local.aws.cloudformation.defining import Made, Request, define
from local.aws.patches.replacing import Make, around_creation


def apply() -> None:
    """Add the types, and correct the two that moto has and breaks."""
    define("AWS::Lambda::Alias", _alias)
    define("AWS::Lambda::EventInvokeConfig", _event_invoke_config)
    define("AWS::SNS::Subscription", _subscription)
    define("AWS::SNS::TopicPolicy", _topic_policy)
    define("AWS::SQS::QueuePolicy", _queue_policy)
    define("AWS::DynamoDB::GlobalTable", _global_table, name_property="TableName")
    define("AWS::CloudWatch::Alarm", _alarm, name_property="AlarmName")
    _correct_event_bus()
    _correct_archive()


def _alias(request: Request) -> Made:
    properties = request.properties
    backend = backends.lambda_backend(request.region)
    alias = backend.create_alias(
        properties["Name"],
        properties["FunctionName"],
        properties["FunctionVersion"],
        "",
        properties.get("RoutingConfig"),
    )
    return Made(alias.arn, {"AliasArn": alias.arn})


def _event_invoke_config(request: Request) -> Made:
    function = backends.function(request.properties["FunctionName"], request.region)
    config = {key: value for key, value in request.properties.items() if key not in {"FunctionName", "Qualifier"}}
    for limit in ("MaximumRetryAttempts", "MaximumEventAgeInSeconds"):
        if limit in config:
            config[limit] = int(config[limit])
    function.event_invoke_config[:] = [EventInvokeConfig(function.function_arn, function.last_modified, config)]
    return Made(request.name)


def _subscription(request: Request) -> Made:
    properties = request.properties
    backend = backends.topic_backend(request.region)
    made = backend.subscribe(properties["TopicArn"], properties["Endpoint"], properties["Protocol"])
    for name in ("FilterPolicy", "FilterPolicyScope", "RawMessageDelivery", "RedrivePolicy"):
        if name in properties:
            backend.set_subscription_attributes(made.arn, name, _text(properties[name]))
    return Made(made.arn, {"Arn": made.arn})


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _topic_policy(request: Request) -> Made:
    for topic in request.properties["Topics"]:
        backends.topic_backend(request.region).get_topic(topic).policy = _text(request.properties["PolicyDocument"])
    return Made(request.name)


def _queue_policy(request: Request) -> Made:
    for url in request.properties["Queues"]:
        queue = backends.queue_backend(request.region).get_queue(url.rsplit("/", 1)[-1])
        queue.policy = _text(request.properties["PolicyDocument"])
    return Made(request.name)


def _global_table(request: Request) -> Made:
    table = Table.create_from_cloudformation_json(
        request.name, {"Properties": dict(request.properties)}, request.account, request.region
    )
    stream = f"{table.table_arn}/stream/{table.latest_stream_label}" if table.latest_stream_label else None
    return Made(table.name, {"Arn": table.table_arn, "StreamArn": stream, "TableId": table.name})


def _alarm(request: Request) -> Made:
    """Accepted and listed by DescribeAlarms as far as its name goes; nothing evaluates it."""
    arn = f"arn:aws:cloudwatch:{request.region}:{request.account}:alarm:{request.name}"
    return Made(request.name, {"Arn": arn})


def _correct_event_bus() -> None:
    """Ref of a bus is its name; moto has no physical id for it and leaves the object in the text."""
    bus: Any = EventBus
    bus.physical_resource_id = property(lambda self: self.name)


def _correct_archive() -> None:
    """An archive's pattern is an object in a template; moto takes only text. Made-up names must fit its 48 letters."""

    def create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
        properties = resource["Properties"]
        if isinstance(properties.get("EventPattern"), dict):
            properties["EventPattern"] = json.dumps(properties["EventPattern"])
        return make(name[-48:], resource)

    around_creation(Archive, create)
