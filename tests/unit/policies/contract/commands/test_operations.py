"""What may be asked of a node, and what never can be."""

from typing import Any

import pytest

from policies.contract.commands.items import instance_arns, table_of
from policies.contract.commands.operations import (
    PARAMS,
    BurnIn,
    CollectEvidence,
    Operation,
    RestartProcess,
    longest_run,
    parse_params,
)
from policies.contract.errors import BadInputError, SettingsError
from tests.tools.commands import NODE, TABLE_ARN


def test_every_operation_has_its_parameters_and_its_deadline() -> None:
    assert set(PARAMS) == set(Operation)
    assert longest_run(CollectEvidence()) > 0
    assert longest_run(BurnIn(level=3)) == 3600


@pytest.mark.parametrize(
    ("operation", "params", "why"),
    [
        (Operation.RESET_GPU, {"gpus": ["0"]}, "gpus"),
        (Operation.RESET_GPU, {"gpus": ["0000:4b:00; reboot"]}, "gpus"),
        (Operation.RESET_GPU, {"gpus": ["0000:4B:00"]}, "gpus"),
        (Operation.RESET_GPU, {"command": "reboot"}, "command"),
        (Operation.RESTART_PROCESS, {}, "name a pid or a gpu"),
        (Operation.RESTART_PROCESS, {"pid": 1}, "pid"),
        (Operation.RESTART_PROCESS, {"pid": 77, "grace_seconds": 9000}, "grace_seconds"),
        (Operation.RESTART_SERVICE, {"service": "sshd"}, "service"),
        (Operation.RESTART_SERVICE, {"service": "nvidia-imex; reboot"}, "service"),
        (Operation.REQUEST_SAVE, {"token": 0}, "token"),
        (Operation.BURN_IN, {"level": 5}, "level"),
    ],
)
def test_what_is_no_parameter_is_refused_by_name(operation: Operation, params: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInputError, match=why) as refused:
        parse_params(operation, params)
    assert "Its parameters are: " in refused.value.hint


def test_parameters_from_a_command_line_are_read_as_what_they_mean() -> None:
    parsed = parse_params(Operation.RESTART_PROCESS, {"pid": "4711", "started_before": "2026-03-01T12:00:00Z"})
    assert isinstance(parsed, RestartProcess)
    assert (parsed.pid, parsed.grace_seconds) == (4711, 10.0)


def test_nodes_are_named_by_the_account_and_region_of_the_table() -> None:
    assert instance_arns(TABLE_ARN) + "i-0a" == NODE
    assert table_of(TABLE_ARN) == ("commands", "us-east-1")
    assert instance_arns("arn:aws-cn:dynamodb:cn-north-1:123456789012:table/t").startswith("arn:aws-cn:ec2:cn-north-1:")


@pytest.mark.parametrize("text", ["", "commands", "arn:aws:s3:::bucket", TABLE_ARN.replace("123456789012", "")])
def test_what_is_no_arn_of_a_table_says_what_to_take(text: str) -> None:
    with pytest.raises(SettingsError, match="CommandsTableArn"):
        instance_arns(text)
