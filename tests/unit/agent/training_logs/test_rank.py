from pathlib import Path

import pytest

from agent.coalesce import Seen
from agent.parsers.sighting import Sighting
from agent.training_logs.rank import JobSources, RankLog, no_job
from policies.contract.events import JobRef
from policies.contract.vocabulary import Kind, Orchestrator, Severity
from tests.tools.agent_events import START

SEEN = Seen(Sighting(Kind.TRAINING_OUT_OF_MEMORY, Severity.ERROR), "c", 1, START, "m")
HERE = JobRef(id="12", orchestrator=Orchestrator.SLURM, world_size=64)


@pytest.mark.parametrize(
    ("name", "told"), [("slurm-12.out", ("12", 64)), ("slurm-13.out", ("13", None)), ("rank3.log", ("12", 64))]
)
def test_the_run_that_a_log_s_name_tells_has_the_size_that_the_node_knows_of_it(
    tmp_path: Path, name: str, told: tuple[str, int | None]
) -> None:
    found = RankLog(tmp_path / name, JobSources(lambda: None, lambda: HERE), no_job).job(SEEN)
    assert found
    assert (found.id, found.world_size) == told
