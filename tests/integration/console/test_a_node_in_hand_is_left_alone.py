"""`relight node maintenance` on the deployed stack: coordinate hears of it at once, and of its end."""

from collections.abc import Callable
from typing import Any

from tests.integration.console.deployed import Deployed, Relight
from tests.integration.console.test_who_is_paged_reads_and_closes_the_incident import fault, listed, put_in_force, send

Eventually = Callable[[Callable[[], Any]], Any]


def launch(deployed: Deployed) -> str:
    ec2 = deployed.client("ec2")
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "relight:cluster", "Value": "training"}]}]
    return str(
        ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, TagSpecifications=tags)["Instances"][0]["InstanceId"]
    )


def test_nothing_is_done_to_it_until_it_is_let_go(deployed: Deployed, relight: Relight, eventually: Eventually) -> None:
    put_in_force(deployed, eventually)
    node = launch(deployed)
    status, said = relight("node", "maintenance", node, "--for", "1h", "--why", "new NIC", "--by", "ann")
    assert (status, f"{node} is in maintenance until" in said) == (0, True)
    status, document = relight.json("node", "maintenance")
    assert [(each["node"], each["by"]) for each in document["maintenance"]] == [(node, "ann")]

    send(deployed, fault(node))
    (line,) = eventually(lambda: listed(relight, "--closed", "--node", node))
    assert line["outcome"] == "recorded"
    assert f"{node} is in maintenance until" in line["reason"]
    assert line["reason"].endswith(", by ann: new NIC")

    assert relight("node", "maintenance", node, "--end", "--by", "bob")[0] == 0
    assert relight.json("node", "maintenance")[1] == {"maintenance": []}
    again = fault(node).model_copy(update={"id": f"again-on-{node}"})
    incident = send(deployed, again)
    eventually(lambda: [each for each in listed(relight, "--node", node) if each["status"] == "parked"])
    assert relight("incident", "close", incident, "--reason", "done", "--yes")[0] == 0
