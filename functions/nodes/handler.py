"""Wires the nodes executor to DynamoDB."""

import os
from functools import cache
from typing import Any

import boto3

from functions.acts.act import Act
from functions.acts.executor import Executor
from functions.acts.wiring import executor_of
from functions.adapters.commands import DynamoDBCommands
from functions.clients import bounded
from functions.nodes.acts import ResetGpus, restart_process, restart_service
from functions.nodes.asking import Asking
from functions.nodes.settings import Settings
from policies.contract.rungs import Rung

_CLIENT = bounded()


@cache
def wired() -> Executor:
    """Return the executor with its ports, made once a process."""
    settings = Settings.from_environment(os.environ)
    dynamodb = boto3.client("dynamodb", config=_CLIENT)
    commands = DynamoDBCommands(dynamodb, settings.commands_table)
    asking = Asking(commands=commands, instance_arns=settings.instance_arns, pace=settings.pace)
    acts: dict[Rung, Act] = {
        Rung.RESET_GPU: ResetGpus(asking),
        Rung.RESTART_PROCESS: restart_process(asking),
        Rung.RESTART_SERVICE: restart_service(asking),
    }
    return executor_of(acts, settings, dynamodb)


def handle(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Carry out one rung; answer how far it is."""
    return wired().run(event)
