from policies.coordination.states import IncidentStatus
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import finding, findings
from tests.tools.world import World

STAGES = ["seen", "queued", "decided", "settled", "isolated", "evidence_kept", "job_suspended", "instance_replaced"]
STAGES += ["node_verified", "resuming", "checkpoint_chosen", "resumed", "confirmed", "closed"]


def test_from_the_finding_to_the_confirmed_resume() -> None:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.run(600)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert incident.outcome == "replaced"
    assert [entry.stage for entry in incident.timeline] == STAGES
    assert [site.times(each) for each in ("isolate", "suspend", "replace", "verify", "resume")] == [1] * 5
    assert incident.facts["new_instance"] == "i-1-successor"
    assert not world.dead_letters
    assert not world.failed_executions
