"""The agent is killed at its two worst moments; the fleet starts it again, as a service manager does."""

import subprocess
import sys

from local.demo.cluster import ROOT, LocalCluster
from local.fleet.agent_environment import Waits, agent_environment
from local.fleet.infrastructure import NODE_ROLE
from tests.tools.stories import Story


def test_right_after_the_fault_line_was_written(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    before = machine.agent
    fault = story.break_gpu()
    cluster.fleet.kill_agent(machine)
    story.ends_well(fault)
    assert machine.agent != before


def test_after_its_put_was_accepted_and_before_it_was_acknowledged(cluster: LocalCluster, story: Story) -> None:
    machine = story.machine()
    before = machine.agent
    cluster.aws.kill_caller_next("kinesis", "PutRecord", "after", principal=NODE_ROLE, containing='"gpu.xid"')
    fault = story.break_gpu()
    story.ends_well(fault)
    assert machine.agent != before


def test_started_again_its_check_finds_all_well_with_the_rights_of_its_node(cluster: LocalCluster) -> None:
    machine = next(each for each in cluster.room if each.is_on)
    environment = agent_environment(cluster.aws, cluster.outputs, cluster.site, machine, Waits(10.0, 20.0))
    command = [sys.executable, "-m", "console.main", "agent", "check"]
    check = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout + check.stderr
