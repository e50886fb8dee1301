"""Relight as one stack: puts the parts together, in the order in which they need each other.

It must not decide anything that a part can decide.
"""

from aws_cdk import Stack
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import assets, catalog, outputs, workflow
from infra.access import Access
from infra.alarms import Alarms
from infra.alerts import Alerts
from infra.aws_events import AwsEvents
from infra.buckets import Buckets
from infra.bus import Bus
from infra.calls import Calls
from infra.dashboard import Dashboard
from infra.functions import Function, Plan, Shared
from infra.lanes import Lanes
from infra.permissions import pipeline
from infra.rules import Rule
from infra.settings import Deployment
from infra.tables import Tables
from infra.triggers import Triggers


class RelightStack(Stack):
    """One deployment: one account, one region, any number of clusters."""

    def __init__(self, scope: Construct, deployment: Deployment, *, with_layer: bool) -> None:
        """Create everything. Without the layer the template is the same but for the layer itself."""
        super().__init__(scope, deployment.name, description="Relight: the exception queue of GPU training")
        self.lanes = Lanes(self, "Lanes", with_calls=deployment.policy_trail != "none")
        self.tables = Tables(self, "Tables")
        self.buckets = Buckets(self, "Buckets", deployment)
        self.alerts = Alerts(self, "Alerts", deployment.alert_email)
        self.bus = Bus(self, "Bus", self.alerts, self.buckets, self.lanes.undelivered)
        self.shared = Shared(assets.code(), assets.layer(self) if with_layer else None, deployment.log_retention_days)
        self.functions: dict[str, Function] = {}
        self._create_functions(deployment)
        self._connect(deployment)
        self._watch()
        self._tell(deployment)

    @property
    def lambdas(self) -> dict[str, lambda_.Function]:
        """Return the Lambda functions by construct id (``Triage``)."""
        return {name: function.function for name, function in self.functions.items()}

    def _create_functions(self, deployment: Deployment) -> None:
        around = catalog.Surroundings(self, deployment, self.lanes, self.tables, self.buckets, self.bus.bus)
        for name, plan in catalog.pipeline_plans(around).items():
            self._create(name.capitalize(), plan)
        executors = {gap: self._create(_name(gap), plan) for gap, plan in catalog.executor_plans(around).items()}
        self.machine = workflow.Workflow(
            self,
            "Workflow",
            executors={gap: function.function for gap, function in executors.items()},
            lanes=self.lanes,
            log_days=deployment.log_retention_days,
            definition=workflow.read(catalog.routes(deployment)),
        ).machine
        self._create(
            "Coordinate",
            catalog.coordinate_plan(around, self.machine.state_machine_arn, pipeline.executions(self.machine)),
        )
        if self.lanes.calls:
            self._note_callers(around)

    def _note_callers(self, around: catalog.Surroundings) -> None:
        """Create the function that notes who writes policies, and tell it which roles of ours do."""
        made = self._create("Callers", catalog.callers_plan(around))
        own = [self.functions[name].role.role_arn for name in ("Guard", "Coordinate", "Callers")]
        made.function.add_environment("OWN_ROLES", " ".join(own))
        Calls(self, "PolicyCalls", lanes=self.lanes, table=self.tables.policies, bucket=self.buckets.trail)

    def _create(self, name: str, plan: Plan) -> Function:
        self.functions[name] = Function(self, name, plan, self.shared)
        return self.functions[name]

    def _connect(self, deployment: Deployment) -> None:
        Triggers(
            self,
            "Triggers",
            functions={name.lower(): function for name, function in self.lambdas.items()},
            lanes=self.lanes,
            tables=self.tables,
            buckets=self.buckets,
            archive_window_seconds=deployment.archive_window_seconds,
        )
        AwsEvents(self, "AwsEvents", self.lanes, deployment)
        reached = catalog.networks(deployment).items()
        Access(self, "Access", [(self.functions[_name(gap)], clusters) for gap, (_, clusters) in reached])
        self._by_clock("EveryMinute", "Sweep", "rate(1 minute)", "the minute's look at open incidents, and the canary")
        # For what the guard's stream never told of: that keeps changes for a day, and a shard may be stuck.
        self._by_clock("EveryQuarter", "Guard", "rate(15 minutes)", "the guard's look for edits that nobody judged")
        if deployment.report_schedule:
            self._by_clock("Weekly", "Report", deployment.report_schedule, "the report on policies in shadow")

    def _by_clock(self, construct_id: str, name: str, schedule: str, description: str) -> None:
        """Have the function of this *name* called at the times of *schedule*."""
        function = self.lambdas[name]
        rule = Rule(
            self,
            construct_id,
            description=description,
            schedule=schedule,
            target_arn=function.function_arn,
            undelivered=self.lanes.undelivered,
        )
        rule.may_invoke(function)

    def _watch(self) -> None:
        alarms = Alarms(self, "Alarms", self.alerts.topic)
        alarms.watch_pipeline(self.lambdas["Triage"])
        alarms.watch_archive(self.lambdas["Archive"])
        alarms.watch_figures()
        for name in ("Guard", "Outbox"):
            alarms.watch_changes(name, self.lambdas[name])
        alarms.watch_executions(self.machine.state_machine_arn)
        for name, working in self.lanes.working.items():
            alarms.watch_queue(name, working)
        for name, dead in self.lanes.dead.items():
            alarms.watch_dead(name, dead)
        for name, function in self.lambdas.items():
            alarms.watch_function(name, function)
        Dashboard(
            self,
            "Dashboard",
            alarms=alarms.all,
            lanes=self.lanes,
            functions=self.lambdas,
            machine_arn=self.machine.state_machine_arn,
        )

    def _tell(self, deployment: Deployment) -> None:
        outputs.node_policy(self, self.lanes, self.tables, self.buckets.evidence)
        outputs.tell(
            self,
            FaultsStream=self.lanes.faults.stream_name,
            OverflowQueueUrl=self.lanes.overflow.queue_url,
            DecisionsQueueUrl=self.lanes.decisions.queue_url,
            AwsEventsQueueUrl=self.lanes.aws_events.queue_url,
            UndeliveredQueueUrl=self.lanes.undelivered.queue_url,
            FleetTable=self.tables.fleet.table_name,
            IncidentsTable=self.tables.incidents.table_name,
            PoliciesTable=self.tables.policies.table_name,
            CommandsTableArn=self.tables.commands.table_arn,
            ArchiveBucket=self.buckets.archive.bucket_name,
            EvidenceBucket=self.buckets.evidence.bucket_name,
            RejectsBucket=self.buckets.rejects.bucket_name,
            BusName=self.bus.bus.event_bus_name,
            AlertsTopicArn=self.alerts.topic.topic_arn,
            StateMachineArn=self.machine.state_machine_arn,
            Clusters=",".join(cluster.name for cluster in deployment.clusters),
        )
        if self.lanes.calls:
            outputs.tell(self, CallsQueueUrl=self.lanes.calls.queue_url)
        outputs.tell_functions(self, {name: it.function_name for name, it in self.lambdas.items()})
        outputs.tell(
            self,
            **{f"{name}RoleArn": it.role.role_arn for name, it in self.functions.items() if "Kubernetes" in name},
        )


def _name(gap: str) -> str:
    """Return the construct id of the function that fills *gap* of the state machine's definition."""
    return gap.removesuffix("FunctionArn")
