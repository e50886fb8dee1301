"""Who wakes up for what."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from functions.outbox.notices import TYPES
from infra.watched import WATCHED, Watched

ROOT = Path(__file__).parents[3]
Find = Callable[[str], dict[str, Any]]


def test_every_alarm_goes_to_the_topic_and_says_what_to_do(of_type: Find) -> None:
    [topic] = of_type("SNS::Topic")
    alarms = of_type("CloudWatch::Alarm")
    assert len(alarms) == 3 + len(WATCHED) + 2 + 3 + 3 + 4 + 2 * 14
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"] == alarm["OKActions"] == [{"Ref": topic}], name
        assert len(alarm["AlarmDescription"]) > 40, name


def test_silence_alarms_where_silence_is_the_fault(of_type: Find) -> None:
    breaching = {
        name for name, alarm in of_type("CloudWatch::Alarm").items() if alarm["TreatMissingData"] == "breaching"
    }
    assert {name.removeprefix("Alarms")[:9] for name in breaching} == {"IteratorA", "CanaryMis", "ArchiveAg"}


def test_every_dead_letter_queue_has_an_alarm_on_its_first_message(of_type: Find) -> None:
    watched = {
        dimension["Value"]["Fn::GetAtt"][0]: alarm["Threshold"]
        for alarm in of_type("CloudWatch::Alarm").values()
        if alarm["MetricName"] == "ApproximateNumberOfMessagesVisible"
        for dimension in alarm["Dimensions"]
    }
    dead = {name for name, queue in of_type("SQS::Queue").items() if "RedrivePolicy" not in queue}
    assert watched == dict.fromkeys(dead, 0)


def test_every_working_queue_has_an_alarm_on_its_age(of_type: Find) -> None:
    watched = {
        dimension["Value"]["Fn::GetAtt"][0]
        for alarm in of_type("CloudWatch::Alarm").values()
        if alarm["MetricName"] == "ApproximateAgeOfOldestMessage"
        for dimension in alarm["Dimensions"]
    }
    assert watched == {name for name, queue in of_type("SQS::Queue").items() if "RedrivePolicy" in queue}


def test_every_function_is_watched_for_errors_and_throttles(of_type: Find) -> None:
    watched = {
        (alarm["MetricName"], dimension["Value"]["Ref"])
        for alarm in of_type("CloudWatch::Alarm").values()
        if alarm["MetricName"] in {"Errors", "Throttles"}
        for dimension in alarm["Dimensions"]
    }
    assert watched == {(metric, name) for metric in ("Errors", "Throttles") for name in of_type("Lambda::Function")}


@pytest.mark.parametrize("watched", WATCHED, ids=lambda watched: watched.name)
def test_every_figure_that_is_watched_is_one_that_its_function_writes(watched: Watched) -> None:
    folder, figure = watched.figure
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "functions" / folder).glob("*.py"))
    assert f'"{figure}"' in code


def test_figures_are_watched_as_they_are_written(of_type: Find) -> None:
    own = [alarm for alarm in of_type("CloudWatch::Alarm").values() if alarm.get("Namespace") == "Relight"]
    watched = {
        (alarm["MetricName"], alarm["Dimensions"][0]["Name"], alarm["Dimensions"][0]["Value"], alarm["Statistic"])
        for alarm in own
    }
    assert watched == {(each.figure[1], "service", each.figure[0], each.statistic) for each in WATCHED} | {
        ("CanariesSeen", "service", "triage", "Sum")
    }
    [overdue] = [alarm for alarm in own if alarm["MetricName"] == "LongestOverdue"]
    assert (overdue["Threshold"], overdue["EvaluationPeriods"], overdue["Period"]) == (300, 3, 60)
    assert overdue["ComparisonOperator"] == "GreaterThanThreshold"


def test_whoever_reads_the_changes_of_a_stream_is_watched_for_falling_behind(of_type: Find) -> None:
    watched = {
        alarm["Dimensions"][0]["Value"]["Ref"]
        for alarm in of_type("CloudWatch::Alarm").values()
        if alarm["MetricName"] == "IteratorAge"
    }
    readers = {
        mapping["FunctionName"]["Fn::GetAtt"][0]
        for mapping in of_type("Lambda::EventSourceMapping").values()
        if "StartingPosition" in mapping
    }
    assert watched == readers


def test_runs_that_end_badly_alarm(of_type: Find) -> None:
    metrics = {alarm["MetricName"] for alarm in of_type("CloudWatch::Alarm").values()}
    assert {"ExecutionsFailed", "ExecutionsAborted", "ExecutionsTimedOut"} <= metrics


def test_incidents_reach_people_as_coordinate_marked_them(of_type: Find) -> None:
    rule = next(properties for name, properties in of_type("Events::Rule").items() if "Alerting" in name)
    assert rule["EventPattern"] == {
        "source": ["relight"],
        "detail-type": [{"prefix": "Incident "}],
        "detail": {"alert": ["notify", "page"]},
    }
    assert rule["EventBusName"]["Ref"].startswith("Bus")


def test_every_notice_of_the_guard_reaches_people_and_no_incident_does_twice(of_type: Find) -> None:
    rules = of_type("Events::Rule").items()
    patterns = {
        word: next(rule["EventPattern"]["detail-type"][0]["prefix"] for name, rule in rules if word in name)
        for word in ("Alerting", "Edited")
    }
    assert all(type_.startswith(patterns["Edited"]) for type_ in TYPES.values())
    assert not any(type_.startswith(patterns["Alerting"]) for type_ in TYPES.values())
