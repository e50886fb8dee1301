"""An example states what is known; a word that is no fact, or a value that it cannot hold, is refused."""

from typing import Any

import pytest

from policies.loader import load_document
from policies.model import Policy


def loaded(facts: dict[str, Any], findings: int) -> object:
    return load_document(
        {
            "name": "test-policy",
            "mode": "active",
            "why": "for a test",
            "when": 'event.kind == "gpu.xid" && event.attributes.xid == 79',
            "unless": "job.minutes_since_checkpoint > 120",
            "do": ["alert"],
            "examples": [
                {
                    "says": "so",
                    "facts": facts,
                    "events": [{"kind": "gpu.xid", "attributes": {"xid": 79}}],
                    "findings": findings,
                }
            ],
        }
    )


@pytest.mark.parametrize(
    ("facts", "findings"),
    [({}, 1), ({"job.minutes_since_checkpoint": 20}, 1), ({"job.minutes_since_checkpoint": 120.5}, 0)],
)
def test_what_is_stated_is_known_and_the_rest_is_not(facts: dict[str, Any], findings: int) -> None:
    assert isinstance(loaded(facts, findings), Policy)
    assert not isinstance(loaded(facts, 1 - findings), Policy)


@pytest.mark.parametrize(
    "facts",
    [{"job.minutes": 3}, {"job.alive": 1}, {"job.minutes_since_checkpoint": True}, {"job.steps_at_risk": 1.5}],
)
def test_what_is_no_fact_or_cannot_be_its_value_is_refused(facts: dict[str, Any]) -> None:
    problems = loaded(facts, 1)
    assert not isinstance(problems, Policy)
    assert "examples.0.facts" in str(problems)
