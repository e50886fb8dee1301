import pytest

from agent.reload import ALL_GROUPS, LOGS, Changes, compare, merged
from agent.settings import Settings


def settings(**values: object) -> Settings:
    return Settings.model_validate({"cluster": "c", "stream": "s", **values})


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, Changes(frozenset())),
        ({"training_logs": ["/x"]}, Changes(frozenset({LOGS}), ("training_logs",))),
        ({"journal_units": []}, Changes(frozenset({LOGS}), ("journal_units",))),
        ({"hang_after_seconds": 7}, Changes(frozenset({"job"}), ("hang_after_seconds",))),
        ({"efa_devices": 3}, Changes(frozenset({"fabric"}), ("efa_devices",))),
        ({"procfs": "/host/proc"}, Changes(ALL_GROUPS, ("procfs",))),
        ({"cluster": "d"}, Changes(frozenset(), (), ("cluster",))),
        ({"spool_dir": "/x", "efa_devices": 3}, Changes(frozenset({"fabric"}), ("efa_devices",), ("spool_dir",))),
    ],
)
def test_what_changed_is_begun_anew_or_waits_for_a_restart(values: dict[str, object], expected: Changes) -> None:
    assert compare(settings(), settings(**values)) == expected


def test_what_needs_a_restart_stays_as_it_runs() -> None:
    running, wanted = settings(), settings(cluster="d", hang_after_seconds=7)
    now = merged(running, wanted, compare(running, wanted))
    assert (now.cluster, now.hang_after_seconds) == ("c", 7)
    assert compare(now, wanted).groups == frozenset()


def test_every_setting_has_one_of_both_fates() -> None:
    for name in Settings.model_fields:
        changed = settings().model_copy(update={name: object()})
        changes = compare(settings(), changed)
        assert bool(changes.live) != bool(changes.needs_restart), name
