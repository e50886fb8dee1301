"""What a policy asks for in vain is told before the fault, and refuses nothing."""

from typing import Any

import pytest

from policies.contract.vocabulary import Action
from policies.coordination.plan import CARRIED_OUT
from policies.notices import notices
from tests.tools.envelopes import policy

WITHIN = {"at_most": 1, "within": "10m"}
SHARE = {"percent": 10, "within": "10m"}


def test_a_condition_whose_end_is_told_may_have_to_last() -> None:
    assert notices(policy(when='event.kind in ["gpu.overheated", "node.not_ready"]', **{"for": "5m"})) == []


def test_a_policy_whose_every_word_counts_gets_no_notice() -> None:
    assert notices(policy(do=["isolate", "replace_node"], limits={"replacements": {**WITHIN, "per": "job"}})) == []


@pytest.mark.parametrize("action", sorted(set(Action) - CARRIED_OUT - {Action.RECORD}))
def test_an_action_that_nobody_carries_out_is_named(action: Action) -> None:
    (notice,) = notices(policy(do=["isolate", action]))
    assert str(notice).startswith(f"do: {action} is carried out by nobody yet.")
    assert "not even by the actions beside it" in notice.hint


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"otherwise": ["reboot_node"]}, "otherwise: reboot_node is carried out by nobody yet."),
        (
            {"limits": {"resets": {**SHARE, "per": "rack"}}},
            "limits.resets.percent: a rack has a size only where EC2 tells",
        ),
        (
            {"limits": {"resets": {**SHARE, "per": "job"}}},
            "limits.resets.percent: a job has a size only where its training",
        ),
        (
            {"when": 'event.kind == "node.silent"', "unless": "job.step > 9"},
            "unless: job.step is never there: node.silent is told by who knows no run.",
        ),
        ({"when": 'event.kind == "host.panic"', "for": "5m"}, "for: nothing tells that host.panic is over."),
    ],
)
def test_what_comes_to_nothing_is_told(fields: dict[str, Any], told: str) -> None:
    (notice,) = notices(policy(**fields))
    assert str(notice).startswith(told)
