import json

from agent.job.told import FRESH_SECONDS, LIMIT_BYTES, JobsTold
from policies.contract.progress import MOST_JOBS, JobProgress


def test_ages_go_on_and_what_is_old_is_not_said() -> None:
    now = [100.0]
    told = JobsTold(lambda: now[0])
    assert told() == b""
    told.put([JobProgress(id="j", step=7, saved_ago=5.0)], 100.0)
    now[0] += 10
    assert json.loads(told()) == [{"id": "j", "step": 7, "saved_ago": 15.0}]
    now[0] += FRESH_SECONDS
    assert told() == b""


def test_what_is_said_fits_an_envelope_s_head_whatever_jobs_are_called() -> None:
    told = JobsTold(lambda: 0.0)
    told.put([JobProgress(id=f"{n}" + "é" * 500) for n in range(20)], 0.0)
    text = told()
    assert len(text) <= LIMIT_BYTES
    assert 0 < len(json.loads(text)) <= MOST_JOBS
