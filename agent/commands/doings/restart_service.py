"""Restart one of the GPUs' own services by systemd, and look whether it is active.

Which ones can be named at all is the contract's. It must not know why.
"""

from agent.commands.doing import Errand, Outcome, Resource
from agent.programs import Said, run
from policies.contract.commands.operations import RestartService

_PROGRAM = "systemctl"
_LOOK_SECONDS = 10.0
_STEADY_SECONDS = 30.0  # a service that dies of its start does so within seconds


class RestartsService:
    """`restart_service`."""

    resource = Resource.GPUS  # fabric manager and persistence daemon both hold them

    def why_not(self, params: RestartService) -> str:
        """Refuse what systemd does not know here."""
        said = run([_PROGRAM, "show", "--property=LoadState", "--value", _unit(params)], _LOOK_SECONDS)
        if not said.ok:
            return str(said)
        return (
            "" if said.output.strip() == "loaded" else f"{_unit(params)} is {said.output.strip() or 'not known'} here"
        )

    def run(self, params: RestartService, errand: Errand) -> Outcome:
        """Restart it."""
        said = run([_PROGRAM, "restart", _unit(params)], errand.left)
        if not said.ok:
            return Outcome(ok=False, reason=str(said), output=said.output)
        return _looked(params, errand)

    def look_back(self, params: RestartService, errand: Errand) -> Outcome:
        """It worked if it is active: a restart of what runs is what was wanted."""
        return _looked(params, errand)


def _looked(params: RestartService, errand: Errand) -> Outcome:
    """Wait until it is active, or has failed."""
    looks: list[Said] = []

    def is_settled() -> bool:
        looks.append(run([_PROGRAM, "show", "--property=ActiveState", "--value", _unit(params)], _LOOK_SECONDS))
        return looks[-1].output.strip() in {"active", "failed", "inactive"}

    errand.until(is_settled, _STEADY_SECONDS, every=1.0)
    state = looks[-1].output.strip() or str(looks[-1])
    return Outcome(ok=state == "active", reason=f"{_unit(params)} is {state}", output=looks[-1].output)


def _unit(params: RestartService) -> str:
    return f"{params.service}.service"
