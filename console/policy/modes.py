"""Which mode each policy of a push gets, and which of those that are active would stop by it. Pure.

A file's `mode` is often what came along with Relight (`shadow`), while the table's is what a person decided since. So a
push whose files would disarm what acts has to say that it means it. It must not read or write.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from console.policy.planning import Planned
from functions.guard.lowering import asked_mode
from functions.ports.policies import Head
from policies.contract.vocabulary import PolicyMode
from policies.wording import first_few

KEEP, FILE = "keep", "file"
"""Of `--mode`, beside one mode for all: that which each has in the table, or what the files say, on purpose."""
MOST_NAMED = 3


def standing(live: Mapping[str, Any] | None, head: Head | None, *, refused: bool) -> PolicyMode | None:
    """Return the mode that the table has of a policy: its item's, or, where that was *refused*, the one in force.

    One whose item was deleted is off. None where nothing of it was ever in force: it is new.
    """
    if live is None:
        return PolicyMode.OFF if head else None
    asked = asked_mode(live)
    in_force = head.mode if head else None
    return in_force if refused or asked is None else asked


def chosen(wish: str, document: Mapping[str, Any], stands: PolicyMode | None) -> Mapping[str, Any]:
    """Return *document* in the mode that it is to have: *wish* is a mode, `KEEP` or `FILE`; "" is as `FILE`."""
    if wish in {"", FILE} or (wish == KEEP and stands is None):
        return document
    return {**document, "mode": stands.value if wish == KEEP and stands else wish}


def stop(planned: Iterable[Planned]) -> list[str]:
    """Return the names of those that are active and would be no more."""
    return [each.name for each in planned if each.writes and each.stands is PolicyMode.ACTIVE and not _is_active(each)]


def begin(planned: Iterable[Planned]) -> list[str]:
    """Return the names of those that would be active and are not."""
    return [each.name for each in planned if each.writes and each.stands is not PolicyMode.ACTIVE and _is_active(each)]


def _is_active(planned: Planned) -> bool:
    return bool(planned.document.get("mode") == PolicyMode.ACTIVE)


def disarming(stopped: Sequence[str], command: Callable[[str], str]) -> str:
    """Return why a push that nobody asked to disarm anything is refused; *command* says it again with a `--mode`."""
    many = len(stopped) > 1
    return (
        f"{len(stopped)} active {'policies' if many else 'policy'} would stop acting, for that is what"
        f" {'their files say' if many else 'its file says'}: {first_few(stopped, MOST_NAMED)}."
        " Nothing was written. Say which is meant:"
        f"\n  {command(KEEP)}\n      each policy keeps the mode that it has in the table; new ones take the file's"
        f"\n  {command(FILE)}\n      as the files say: these stop"
        f"\n  {command(PolicyMode.ACTIVE)}\n      every policy of these files acts, those too that the table has in"
        " shadow or off"
    )
