from collections.abc import Callable

from agent.commands.doing import Errand
from agent.commands.doings.restart_service import RestartsService
from policies.contract.commands.operations import RestartService
from tests.tools.node_programs import Programs

MakeErrand = Callable[..., Errand]
PARAMS = RestartService(service="nvidia-fabricmanager")
DOING = RestartsService()


def systemctl(load: str = "loaded", active: str = "active", restart: str = "exit 0") -> str:
    return f'case "$*" in restart*) {restart};; *LoadState*) echo {load};; *) echo {active};; esac'


def test_a_service_is_restarted_and_seen_to_be_active(programs: Programs, errand: MakeErrand) -> None:
    programs.add("systemctl", systemctl())
    assert DOING.why_not(PARAMS) == ""
    assert DOING.run(PARAMS, errand()).ok
    assert programs.calls() == [
        "systemctl show --property=LoadState --value nvidia-fabricmanager.service",
        "systemctl restart nvidia-fabricmanager.service",
        "systemctl show --property=ActiveState --value nvidia-fabricmanager.service",
    ]


def test_a_service_that_is_not_here_is_refused(programs: Programs) -> None:
    programs.add("systemctl", systemctl(load="not-found"))
    assert DOING.why_not(PARAMS) == "nvidia-fabricmanager.service is not-found here"


def test_a_service_that_dies_of_its_start_has_failed(programs: Programs, errand: MakeErrand) -> None:
    programs.add("systemctl", systemctl(active="failed"))
    outcome = DOING.run(PARAMS, errand())
    assert (outcome.ok, outcome.reason) == (False, "nvidia-fabricmanager.service is failed")


def test_a_refused_restart_is_told(programs: Programs, errand: MakeErrand) -> None:
    programs.add("systemctl", systemctl(restart='echo "Access denied"; exit 4'))
    outcome = DOING.run(PARAMS, errand())
    assert (outcome.ok, outcome.reason) == (False, "systemctl ended with status 4: Access denied")


def test_after_a_crash_it_is_looked_at_and_not_restarted(programs: Programs, errand: MakeErrand) -> None:
    programs.add("systemctl", systemctl())
    assert DOING.look_back(PARAMS, errand()).ok
    assert [call for call in programs.calls() if "restart" in call] == []
