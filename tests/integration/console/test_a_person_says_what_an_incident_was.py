"""`relight incident verdict` on the deployed stack: coordinate keeps the word, and the list of policies counts it."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from policies.contract.events import JobRef
from policies.contract.vocabulary import Action, Kind
from policies.coordination.incident import incident_id
from tests.integration.console.deployed import Deployed, Relight
from tests.tools.incidents import POLICY, finding, findings, plan

Eventually = Callable[[Callable[[], Any]], Any]


def test_an_end_that_nobody_saw_coming_gets_the_policy_that_ought_to_have(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    table = deployed.outputs["PoliciesTable"]
    telling = plan(Action.RECORD, settle=0, name="telling")
    run = JobRef(id="train/ended")  # of its own: what others of this folder told of a run would have foreseen its end
    found = finding(
        "i-ended", policy=telling, job=run, kind=Kind.JOB_FAILED, seen=datetime.now(UTC), cluster="training"
    )
    message = findings(found)
    deployed.client("sqs").send_message(
        QueueUrl=deployed.outputs["DecisionsQueueUrl"],
        MessageBody=message.to_json(),
        MessageGroupId=message.cluster,
        MessageDeduplicationId=message.deduplication_id,
    )

    def missed() -> list[dict[str, Any]]:
        runs: dict[str, Any] = relight.json("policy", "list", "--table", table)[1]["runs"]
        return [each for each in runs["training"]["missed"] if each["instance"] == "i-ended"]

    (miss,) = eventually(missed)
    assert (miss["job"], miss["kind"], miss["policies"]) == ("train/ended", "job.failed", [])
    words = ("incident", "verdict", incident_id(found.generation, found.id)[:12])
    status, said = relight.json(*words, "missed", "--policy", POLICY, "--why", "its errors were there", "--by", "kim")
    assert (status, said["judgements"][0]["policy"], said["counts"]) == (0, POLICY, False)
    assert [each["policies"] for each in missed()] == [[POLICY]]
    assert relight(*words, "unknown", "--policy", POLICY, "--by", "kim")[0] == 0
    assert [each["policies"] for each in missed()] == [[]]
