from pathlib import Path

import pytest

from agent.settings import PREFIX, Settings, load_settings
from policies.contract.errors import SettingsError

NEEDED = {f"{PREFIX}CLUSTER": "research", f"{PREFIX}STREAM": "faults"}


def test_the_environment_wins_over_the_file_and_the_file_over_the_default(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('cluster = "of the file"\nstream = "faults"\nheartbeat_seconds = 5\n')
    settings = load_settings(path, {f"{PREFIX}CLUSTER": "of the environment", f"{PREFIX}KERNEL_LOG": "/tmp/k"})
    assert (settings.cluster, settings.heartbeat_seconds, settings.linger_milliseconds) == ("of the environment", 5, 5)
    assert settings.kernel_log == Path("/tmp/k")


def test_the_environment_alone_is_enough() -> None:
    assert load_settings(None, NEEDED).spool_dir == Path("/var/lib/relight/spool")


def test_variables_of_others_are_left_alone() -> None:
    assert load_settings(None, {**NEEDED, f"{PREFIX}SOMETHING_ELSE": "x", "CLUSTER": "y"}).cluster == "research"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("cluster = ", "is not TOML"),
        ('cluster = "c"\nstream = "s"\nheartbeat = 3\n', "heartbeat: Extra inputs are not permitted"),
        ('cluster = "c"\nstream = "s"\nheartbeat_seconds = "often"\n', "heartbeat_seconds"),
        ('stream = "s"\n', "cluster: Field required"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "agent.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=complaint) as wrong:
        load_settings(path, {})
    assert wrong.value.hint


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"nothing\.toml cannot be read"):
        load_settings(tmp_path / "nothing.toml", NEEDED)


def test_lists_are_lists_in_the_file_and_have_commas_in_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "agent.toml"
    path.write_text('cluster = "c"\nstream = "s"\ntraining_logs = ["/logs/**/rank*.log", "/x"]\njournal_units = []\n')
    settings = load_settings(path, {f"{PREFIX}SERVICE_LOGS": "/a, /b"})
    assert settings.training_logs == ("/logs/**/rank*.log", "/x")
    assert (settings.journal_units, settings.service_logs) == ((), ("/a", "/b"))


def test_every_setting_is_documented() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []
