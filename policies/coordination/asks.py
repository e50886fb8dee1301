"""An ask of handle-incident: who it is, whether it was answered before, and the answer.

(incident, attempt, step) names an ask; the same ask again, with whatever token, gets the same answer, as long as its
policy may act. It must not know what is asked next (`proceed.py` does).
"""

from datetime import datetime

from policies.contract.decisions import Answer, AskMessage
from policies.coordination.endings import owns_lease, park, restart
from policies.coordination.halting import why_stopped
from policies.coordination.incident import Incident
from policies.coordination.notes import Ask
from policies.coordination.proceed import Told, ended, proceed
from policies.coordination.reports import merge_report
from policies.coordination.rules import MOST_STEPS, Rules
from policies.coordination.snapshot import Reply
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working


def take_ask(work: Working, ask: AskMessage, rules: Rules, now: datetime) -> None:
    """Have *ask* answered after the commit; an ask older than the last one is waited for by nobody."""
    incident = work.incidents.get(ask.incident)
    if incident is None:
        answer = _address(ask, Told("stand_down", f"there is no incident {ask.incident}"), fence=0, rules=rules)
    elif ask.attempt != incident.attempt:
        told = Told("fenced", f"attempt {incident.attempt} took over")
        answer = _address(ask, told, fence=0, rules=rules)
    elif incident.ask and (incident.ask.attempt, incident.ask.step) == (ask.attempt, ask.step):
        answer = _answer_again(work, incident, ask, rules, now)
    elif incident.ask and incident.ask.attempt == ask.attempt and ask.step < incident.ask.step:
        return
    elif not incident.status.is_running:
        answer = _address(ask, ended(incident), fence=0, rules=rules)
    else:
        answer = _answer(work, incident, ask, rules, now)
    work.replies.append(Reply(work.index, ask.task_token, answer))


def _answer_again(work: Working, incident: Incident, ask: AskMessage, rules: Rules, now: datetime) -> Answer:
    """Return what this ask was told before, unless that was an act that nobody may begin any more.

    Whoever got the first answer nevertheless is fenced, since parking raises the fence.
    """
    assert incident.ask is not None
    told = incident.ask.answer
    if not incident.status.is_running and told.verdict in {"act", "wait"}:  # parked or closed since, by the sweep
        work.retold[incident.id] = incident
        return _address(ask, ended(incident), fence=incident.fence, rules=rules)
    stopped = why_stopped(work, incident, now) if incident.status.is_running and told.verdict == "act" else ""
    if not stopped or not owns_lease(work, incident):
        work.retold[incident.id] = incident
        return told
    parked = park(work, incident, stopped, now)
    answer = _address(ask, ended(parked), fence=parked.fence, rules=rules)
    asked = incident.ask.model_copy(update={"answer": answer, "token": ask.task_token})
    work.incidents[incident.id] = parked.model_copy(update={"ask": asked})
    return answer


def _answer(work: Working, incident: Incident, ask: AskMessage, rules: Rules, now: datetime) -> Answer:
    told = _decide(work, incident.model_copy(update={"started": ask.attempt}), ask, rules, now)
    after = work.incidents[incident.id]
    answer = _address(ask, told, fence=after.fence, rules=rules)
    asked = Ask(attempt=ask.attempt, step=ask.step, answer=answer, token=ask.task_token)
    work.incidents[incident.id] = after.model_copy(
        update={"started": max(after.started, ask.attempt), "ask": asked, "updated_at": now}
    )
    return answer


def _decide(work: Working, incident: Incident, ask: AskMessage, rules: Rules, now: datetime) -> Told:
    work.incidents[incident.id] = incident
    told = merge_report(work, incident, ask, rules, now) or proceed(work, work.incidents[incident.id], now)
    if ask.step >= MOST_STEPS and told.verdict in {"act", "wait"}:
        return _hand_over(work, work.incidents[incident.id], now)
    return told


def _hand_over(work: Working, incident: Incident, now: datetime) -> Told:
    restarted = restart(work, incident, "the execution's history grows long", now)
    if restarted.status is IncidentStatus.PARKED:
        return ended(restarted)
    return Told("stand_down", f"attempt {restarted.attempt} takes over: the history grows long")


def _address(ask: AskMessage, told: Told, *, fence: int, rules: Rules) -> Answer:
    return Answer(
        verdict=told.verdict,
        incident=ask.incident,
        attempt=ask.attempt,
        step=ask.step + 1,
        rung=told.rung,
        executor=told.executor,
        fence=fence,
        wait_seconds=rules.nominal(told.wait) if told.verdict == "wait" else 0.0,
        reason=told.reason,
    )
