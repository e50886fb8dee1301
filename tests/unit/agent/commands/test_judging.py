"""What an agent makes of a command that is open."""

import pytest

from agent.commands.judging import Self, Verdict, judge
from policies.contract.commands.command import CommandRecord, CommandStatus
from policies.contract.commands.operations import Operation
from tests.tools.commands import at, claim, command

ME = Self("spool-1", "boot-1", frozenset({Operation.RESET_GPU}))
PENDING = CommandRecord(command=command())


def running(by: str = "spool-1", boot_id: str = "boot-1") -> CommandRecord:
    return CommandRecord(command=command(), status=CommandStatus.RUNNING, claim=claim(1, by=by, boot_id=boot_id))


def test_what_is_pending_and_allowed_is_begun() -> None:
    assert judge(PENDING, ME, (), at(5)) == (Verdict.BEGIN, "")


def test_what_is_not_allowed_is_refused_with_what_is() -> None:
    me = Self("spool-1", "boot-1", frozenset({Operation.BURN_IN}))
    verdict, why = judge(PENDING, me, (), at(5))
    assert verdict is Verdict.REFUSE
    assert why == "reset_gpu is not allowed on this node (commands_allowed: burn_in)"


def test_what_has_expired_is_neither_begun_nor_refused() -> None:
    assert judge(PENDING, ME, (), at(90))[0] is Verdict.LEAVE
    assert judge(PENDING, Self("s", "b", frozenset()), (), at(90))[0] is Verdict.LEAVE


def test_what_this_process_does_is_left_to_it() -> None:
    assert judge(running(), ME, {command().id}, at(5))[0] is Verdict.LEAVE
    assert judge(PENDING, ME, {command().id}, at(5))[0] is Verdict.LEAVE


@pytest.mark.parametrize(
    ("record", "seconds", "verdict", "why"),
    [
        (running(), 5, Verdict.LOOK_BACK, "the agent ended in the middle of it"),
        (running(boot_id="boot-0"), 5, Verdict.LOOK_BACK, "the node was started anew in the middle of it"),
        (
            running(by="spool-2", boot_id="boot-0"),
            5,
            Verdict.LOOK_BACK,
            "the node was started anew in the middle of it",
        ),
        (running(by="spool-2"), 5, Verdict.LEAVE, "another agent does it"),
        (running(by="spool-2"), 1 + 180 + 59, Verdict.LEAVE, "another agent does it"),
        (running(by="spool-2"), 1 + 180 + 60, Verdict.LOOK_BACK, "another agent began it and never ended it"),
    ],
)
def test_what_somebody_began_and_left_is_looked_at_and_never_begun(
    record: CommandRecord, seconds: float, verdict: Verdict, why: str
) -> None:
    assert judge(record, ME, (), at(seconds)) == (verdict, why)


def test_what_this_node_no_longer_takes_is_still_looked_back_at() -> None:
    assert judge(running(), Self("spool-1", "boot-1", frozenset()), (), at(5))[0] is Verdict.LOOK_BACK
