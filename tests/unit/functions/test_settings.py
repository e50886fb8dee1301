import pytest

from functions.coordinate.settings import Settings
from functions.settings import ClusterSettings, read_clusters, read_number, read_text, read_time_scale
from policies.contract.errors import SettingsError
from policies.contract.vocabulary import Orchestrator

WEST = ClusterSettings(name="west", orchestrator="eks", eks_cluster="west", auto_scaling_groups=("gpu",))


def test_clusters_are_read_by_name() -> None:
    assert read_clusters({"CLUSTERS": f"[{WEST.to_json()}]"}) == {"west": WEST}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "west",
        "{}",
        "[]",
        '[{"name": "west"}]',
        '[{"name": "west", "orchestrator": "nomad"}]',
        '[{"name": "west", "orchestrator": "eks"}, {"name": "west", "orchestrator": "eks"}]',
    ],
)
def test_wrong_clusters_name_the_variable(text: str) -> None:
    with pytest.raises(SettingsError, match="CLUSTERS"):
        read_clusters({"CLUSTERS": text})


def test_a_missing_text_names_the_variable_unless_there_is_a_default() -> None:
    with pytest.raises(SettingsError, match="FLEET_TABLE is not set"):
        read_text({"FLEET_TABLE": " "}, "FLEET_TABLE")
    assert read_text({}, "FLEET_TABLE", "fleet") == "fleet"


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "fast"])
def test_a_time_scale_is_a_number_above_zero(text: str) -> None:
    with pytest.raises(SettingsError, match="RELIGHT_TIME_SCALE"):
        read_time_scale({"RELIGHT_TIME_SCALE": text})


def test_time_runs_as_it_does_unless_told() -> None:
    assert read_time_scale({}) == 1.0
    assert read_number({"N": "3"}, "N") == 3.0


def test_coordinate_reads_its_environment() -> None:
    environ = {
        "FLEET_TABLE": "fleet",
        "INCIDENTS_TABLE": "incidents",
        "POLICIES_TABLE": "policies",
        "STATE_MACHINE_ARN": "arn:aws:states:us-east-1:1:stateMachine:m",
        "DECISIONS_DLQ_URL": "https://sqs/dead.fifo",
        "CLUSTERS": f"[{WEST.to_json()}]",
        "RELIGHT_TIME_SCALE": "0.1",
    }
    settings = Settings.from_environment(environ)
    assert settings.rules.orchestrators == {"west": Orchestrator.EKS}
    assert settings.decisions_dlq_url == "https://sqs/dead.fifo"
    assert settings.rules.time_scale == 0.1
    for name in environ.keys() - {"RELIGHT_TIME_SCALE"}:
        with pytest.raises(SettingsError, match=name):
            Settings.from_environment({key: value for key, value in environ.items() if key != name})
