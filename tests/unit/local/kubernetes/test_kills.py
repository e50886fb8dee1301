"""Callers that die on command once the API has done what they asked."""

import signal
import subprocess
import sys

from local.fleet.infrastructure import Site
from local.fleet.job import pytorch_job
from local.fleet.machines import MachineRoom
from local.kubernetes.api import Answer, Request
from local.kubernetes.cluster import KubernetesCluster
from local.kubernetes.kills import Kills
from local.kubernetes.resources import PYTORCH_JOBS

PATCH = Request("PATCH", "/api/v1/nodes/one", body=b"{}")


def test_a_refused_call_kills_nobody() -> None:
    kills = Kills()
    kills.add(lambda request: request.method == "PATCH")
    assert not kills.take(PATCH, Answer(409, {}))
    assert not kills.take(Request("GET", PATCH.path), Answer(200, {}))
    assert kills.pending == 1
    assert kills.take(PATCH, Answer(200, {}))
    assert not kills.take(PATCH, Answer(200, {}))


_SCRIPT = """
import sys
from urllib.request import Request, urlopen

url, token = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/merge-patch+json"}
body = b'{"spec": {"runPolicy": {"suspend": true}}}'
urlopen(Request(url, method="PATCH", data=body, headers=headers))
print("lived")
"""


def test_the_patch_is_done_and_its_caller_dead() -> None:
    site = Site(size=1)
    with KubernetesCluster(MachineRoom()) as cluster:
        cluster.store.create(PYTORCH_JOBS, site.namespace, pytorch_job(site))
        cluster.kills.add(lambda request: request.method == "PATCH")
        url = f"{cluster.url}/apis/kubeflow.org/v1/namespaces/{site.namespace}/pytorchjobs/{site.job}"
        command = [sys.executable, "-c", _SCRIPT, url, cluster.admin_token]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout) == (-signal.SIGKILL, ""), run.stderr
        assert cluster.store.get(PYTORCH_JOBS, site.namespace, site.job)["spec"]["runPolicy"]["suspend"] is True
        assert cluster.kills.pending == 0
