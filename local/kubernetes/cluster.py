"""The whole cluster: store, API on loopback, access, control loops. This is where they are wired."""

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Self

from local.kubernetes.access import Access, Rule
from local.kubernetes.api import Api
from local.kubernetes.audit import Audit
from local.kubernetes.controllers import pytorchjob, scheduler
from local.kubernetes.controllers.kubelet import Kubelets
from local.kubernetes.controllers.manager import Manager
from local.kubernetes.controllers.nodes import NodeLifecycle
from local.kubernetes.controllers.world import Machines, Timings
from local.kubernetes.kills import Kills
from local.kubernetes.server import ApiServer
from local.kubernetes.store import Store

ADMIN = "relight:admin"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class KubernetesCluster:
    """A context manager: serves while entered. `rules` are what identities of AWS may do, as RBAC grants it."""

    def __init__(
        self,
        machines: Machines,
        *,
        rules: tuple[Rule, ...] = (),
        timings: Timings | None = None,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        self.admin_token = secrets.token_urlsafe(16)
        self.store = Store(now=now)
        self.audit = Audit()
        self.kubelets = Kubelets(self.store, machines, timings or Timings())
        lifecycle = NodeLifecycle(self.store, machines, timings or Timings())
        self.kills = Kills()
        api = Api(self.store, Access({self.admin_token: ADMIN}, rules), self.audit)
        self._server = ApiServer(api, kills=self.kills)
        self.manager = Manager(
            self.store,
            (
                lifecycle.run,
                partial(pytorchjob.reconcile, self.store),
                partial(scheduler.schedule, self.store),
                self.kubelets.run,
            ),
        )

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return self._server.url

    def __enter__(self) -> Self:
        self._server.start()
        self.manager.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.manager.stop()
        self.store.history.close()
        self._server.stop()
