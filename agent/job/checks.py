"""What works here of the sources in this folder, and what to do about what does not."""

import os
from collections.abc import Callable, Iterator

from agent.check_result import CheckResult
from agent.job.beat_files import read_beats
from agent.job.cgroups.tree import CgroupTree
from agent.job.devices import gpus_of
from agent.job.exit_listener import ExitListener, ListeningError
from agent.job.matching import Matcher
from agent.job.services.asking import Answer, ask_grpc, ask_http
from agent.polls.source import since_boot
from agent.settings import Settings

_ANSWER_SECONDS = 3.0
_LOCAL_EVENTS = "memory_localevents"
Ask = Callable[[str, float], Answer]


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Try each source once, as this process."""
    yield _beats(settings)
    yield _processes(settings)
    yield _exits()
    yield _cgroups(settings)
    if settings.container_runtime_socket:
        yield _service("runtime", settings.container_runtime_socket, ask_grpc)
    if settings.kubelet_health:
        yield _service("kubelet", settings.kubelet_health, ask_http)


def _beats(settings: Settings) -> CheckResult:
    folder = settings.beats
    if not folder.is_dir():
        hint = f"Make it: install -d -m 1777 {folder}; mount it into the containers that train."
        found = f"{folder} is not there: no training beats, hangs go unseen. {hint}"
        return CheckResult("beats", ok=True, found=found, is_here=False)
    if not os.access(folder, os.R_OK | os.X_OK):
        return CheckResult("beats", ok=False, found=f"{folder} cannot be read", hint="Let the agent's user read it.")
    matched = Matcher(settings.procfs).match(read_beats(folder), since_boot())
    alive = sum(1 for one in matched if one.process)
    return CheckResult("beats", ok=True, found=f"{len(matched)} processes beat in {folder}, {alive} of them are here")


def _processes(settings: Settings) -> CheckResult:
    gpus = len(gpus_of(settings.procfs))
    if not (settings.procfs / "1/stat").exists():
        hint = "Mount the node's /proc and name it as procfs; in a pod set hostPID."
        return CheckResult("processes", ok=False, found=f"no processes at {settings.procfs}", hint=hint)
    if not os.access(f"{settings.procfs}/1/fd", os.R_OK):
        hint = "Run as root or with CAP_SYS_PTRACE: until then only processes that beat are known."
        return CheckResult("processes", ok=False, found="who holds a GPU cannot be seen", hint=hint, allowed=False)
    return CheckResult("processes", ok=True, found=f"who holds one of {gpus} GPUs can be seen")


def _exits() -> CheckResult:
    try:
        ExitListener().close()
    except ListeningError as error:
        found = f"how processes end cannot be heard: {error}"
        return CheckResult("exits", ok=True, found=f"{found}; ends without a goodbye are told without a code")
    return CheckResult("exits", ok=True, found="codes and signals of processes that end are heard")


def _cgroups(settings: Settings) -> CheckResult:
    tree = CgroupTree(settings.sysfs)
    if not tree.exists:
        hint = "Mount the node's /sys and name it as sysfs."
        return CheckResult("cgroups", ok=False, found=f"no cgroups at {settings.sysfs}/fs/cgroup", hint=hint)
    if _LOCAL_EVENTS in _mounts(settings):
        found, hint = f"cgroups are mounted with {_LOCAL_EVENTS}: kills go unseen", "Mount them without that option."
        return CheckResult("cgroups", ok=False, found=found, hint=hint)
    return CheckResult("cgroups", ok=True, found=f"memory of version {1 if tree.is_old else 2} is watched")


def _mounts(settings: Settings) -> str:
    try:
        return (settings.procfs / "1/mounts").read_text("utf-8", "replace")
    except OSError:
        return ""


def _service(name: str, where: str, ask: Ask) -> CheckResult:
    answer = ask(where, _ANSWER_SECONDS)
    if answer is Answer.WELL:
        return CheckResult(name, ok=True, found=f"answers at {where}")
    if answer in (Answer.ABSENT, Answer.REFUSED):
        found = f"none at {where}: it is not watched until it answered once"
        return CheckResult(name, ok=True, found=found, is_here=False)
    if answer is Answer.BARRED:
        hint = "Run as root, or leave it unwatched."
        return CheckResult(name, ok=False, found=f"{where} may not be asked", hint=hint, allowed=False)
    return CheckResult(name, ok=False, found=f"{where} is {answer.value}", hint=f"Look at the {name}'s own log.")
