"""The definition with one Kubernetes function a VPC: same ways in, same ways out."""

from typing import Any

from infra.routing import by_cluster

TASK: dict[str, Any] = {
    "Type": "Task",
    "Resource": "arn:aws:states:::lambda:invoke",
    "Parameters": {"FunctionName": "${Kubernetes}", "Payload.$": "$.request"},
    "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "Ask"}],
    "Next": "Report",
}
DEFINITION: dict[str, Any] = {
    "StartAt": "Ask",
    "States": {
        "Ask": {"Type": "Pass", "Next": "Kubernetes"},
        "Kubernetes": TASK,
        "Report": {"Type": "Succeed"},
    },
}


def test_with_no_private_network_nothing_changes() -> None:
    assert by_cluster(DEFINITION, "Kubernetes", {}) is DEFINITION


def test_the_task_becomes_a_choice_between_copies_of_itself() -> None:
    states = by_cluster(DEFINITION, "Kubernetes", {"Vpc1": ["a", "b"]})["States"]
    assert states["Ask"] == DEFINITION["States"]["Ask"]
    choice = states["Kubernetes"]
    assert choice["Default"] == "Kubernetes Kubernetes"
    [rule] = choice["Choices"]
    assert [it["StringEquals"] for it in rule["Or"]] == ["a", "b"]
    assert states["Kubernetes Kubernetes"] == TASK
    assert states[rule["Next"]] == {**TASK, "Parameters": {**TASK["Parameters"], "FunctionName": "${Vpc1}"}}


def test_a_task_that_names_the_function_as_its_resource_is_split_as_well() -> None:
    definition = {"StartAt": "K", "States": {"K": {"Type": "Task", "Resource": "${Kubernetes}", "End": True}}}
    states = by_cluster(definition, "Kubernetes", {"Vpc1": ["a"]})["States"]
    assert states["K Vpc1"] == {"Type": "Task", "Resource": "${Vpc1}", "End": True}


def test_tasks_inside_branches_and_items_are_split_where_they_are() -> None:
    inner = {"StartAt": "Kubernetes", "States": {"Kubernetes": {**TASK, "End": True}}}
    definition = {
        "StartAt": "Both",
        "States": {
            "Both": {"Type": "Parallel", "Branches": [inner], "Next": "Each"},
            "Each": {"Type": "Map", "ItemProcessor": inner, "End": True},
        },
    }
    states = by_cluster(definition, "Kubernetes", {"Vpc1": ["a"]})["States"]
    assert states["Both"]["Branches"][0]["States"]["Kubernetes"]["Type"] == "Choice"
    assert states["Each"]["ItemProcessor"]["States"]["Kubernetes"]["Type"] == "Choice"
