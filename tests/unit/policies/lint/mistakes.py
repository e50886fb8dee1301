"""One mistake of each kind with its good neighbour, as changes of a policy that has none."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import yaml

from policies.lint.flaw import Flaw
from policies.lint.lint import Written, lint

GONE = object()
NAME = "lost-gpu"
GPU = {"type": "gpu", "pci": "0000:53:00"}
WHEN = 'event.kind == "gpu.xid" && event.attributes.xid == 79'
NEGATIVE = {"says": "another Xid", "events": [{"kind": "gpu.xid", "attributes": {"xid": 31}}], "findings": 0}
GOOD: Mapping[str, Any] = {
    "name": NAME,
    "mode": "active",
    "why": "The driver cannot reach the GPU over PCIe any more, and only another machine helps.",
    "cites": ["NVIDIA, Xid Errors, Xid 79"],
    "when": WHEN,
    "settle": "10s",
    "evidence": "latched",
    "do": ["isolate", "replace_node", "resume_job"],
    "otherwise": ["page_operator"],
    "limits": {"replacements": {"at_most": 2, "within": "10m"}},
    "deadline": "30m",
    "examples": [
        {
            "says": "it falls off the bus",
            "events": [{"kind": "gpu.xid", "attributes": {"xid": 79}, "component": GPU}],
            "findings": 1,
        },
        NEGATIVE,
    ],
}
SILENT = 'event.kind == "node.silent"'
FREE = {"examples": GONE, "mode": "shadow"}


def document(**changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a document
    """Return the good policy with *changes*; GONE takes a field away."""
    return {name: value for name, value in {**GOOD, **changes}.items() if value is not GONE}


def flaws(*documents: Mapping[str, Any], names: Sequence[str] = ()) -> list[Flaw]:
    """Return what lint finds in *documents*, each in a file of its policy's name unless told otherwise."""
    files = names or [f"{each.get('name', NAME)}.yaml" for each in documents]
    written = [Written(name, yaml.safe_dump(dict(each))) for name, each in zip(files, documents, strict=True)]
    return [flaw for linted in lint(written) for flaw in linted.flaws]


class Case(NamedTuple):
    """Changes that make the mistake, and changes close to them that do not."""

    code: str
    bad: Mapping[str, Any]
    good: Mapping[str, Any]


def _asks(code: str, bad: str, good: str, **more: Any) -> Case:  # noqa: ANN401 - fields of a document
    return Case(code, {**FREE, "when": bad, **more}, {**FREE, "when": good, **more})


def _does(code: str, bad: Sequence[str], good: Sequence[str], **more: Any) -> Case:  # noqa: ANN401 - fields of a document
    return Case(code, {**more, "do": [*bad]}, {**more, "do": [*good]})


def _counts(code: str, bad: Mapping[str, Any], good: Mapping[str, Any]) -> Case:
    return Case(code, {**FREE, "count": bad}, {**FREE, "count": good})


_X = 'event.kind == "gpu.xid" && '
_LIMIT = {"at_most": 2, "within": "10m"}
_JOBS = {"at_least": 3, "within": "1d", "distinct": "job.id"}

CASES: Sequence[Case] = (
    Case("L100", {"approval": "yes"}, {"approval": True}),
    Case("L101", {"untill": "10s"}, {"settle": "10s"}),
    Case("L102", {"why": GONE}, {}),
    Case("L103", {"evidence": "sticky"}, {"evidence": "latched"}),
    Case("L104", {"settle": 10}, {"settle": "10s"}),
    Case("L105", {"deadline": "2d"}, {"deadline": "1d"}),
    Case("L107", {"name": "Lost_GPU"}, {"name": NAME}),
    _does("L108", ["isolate", "isolate", "replace_node"], ["isolate", "replace_node"]),
    _does("L109", ["record", "alert"], ["alert"]),
    _does("L110", ["replace_node", "isolate"], ["isolate", "replace_node"]),
    Case("L111", {"settle": "30m"}, {"settle": "29m"}),
    Case("L112", {"limits": {"replacements": {"within": "1h"}}}, {"limits": {"replacements": _LIMIT}}),
    _counts("L113", {"within": "10s", "occurrence": "30s"}, {"within": "30s", "occurrence": "30s"}),
    Case("L116", {"schedule": {"only": ["weekdays"]}}, {"schedule": {"only": ["Mon-Fri 08:00-18:00"]}}),
    Case(
        "L116",
        {"schedule": {"never": ["Sat"], "zone": "Europe/Berlin"}},
        {"schedule": {"never": ["Sat"], "zone": "+01:00"}},
    ),
    _asks("L201", "event.kind ==", WHEN),
    _asks("L202", _X + "event.xid == 79", WHEN),
    _asks("L203", 'event.kind == "gpu.xud"', WHEN),
    _asks("L203", 'event.kind.startsWith("gpx.")', 'event.kind.startsWith("gpu.")'),
    _asks("L204", _X + "event.attributes.xd == 79", WHEN),
    _asks("L205", _X + 'event.attributes.xid == "79"', WHEN),
    _asks("L206", WHEN + " && event.count > 1" * 60, WHEN + " && event.count > 1"),
    _asks("L207", _X + "lower(event.message) == event.message", _X + "size(event.message) > 5"),
    _asks("L208", _X + 'event.message.matches("(")', _X + r'event.message.matches("GPU \\w+ lost")'),
    _asks("L202", WHEN + " && node.incidents_29d > 3", WHEN + " && node.incidents_28d > 3"),
    _asks("L205", WHEN + ' && node.incidents_28d == "3"', WHEN + " && node.incidents_28d == 3"),
    _asks("L209", WHEN + " && node.incidents_28d", WHEN + " && node.incidents_28d > 0"),
    _asks("L209", WHEN + " && node.in_maintenance == 1", WHEN + " && node.in_maintenance == true"),
    _asks("L210", WHEN + " && event.attributes.xid == 48", _X + "event.attributes.xid in [79, 48]"),
    _asks("L210", WHEN + " && event.count > 5 && event.count < 3", WHEN + " && event.count > 3 && event.count < 5"),
    _asks("L211", f'({WHEN}) || ({_X} event.kind == "gpu.lost")', f'({WHEN}) || event.kind == "gpu.lost"'),
    _asks("L212", 'event.message.contains("fallen off")', _X + 'event.message.contains("fallen off")'),
    _asks("L213", 'event.severity in ["error", "critical"]', _X + 'event.severity in ["error", "critical"]'),
    _asks("L213", 'event.kind != "gpu.xid"', WHEN),
    _asks("L214", "event.attributes.xid == 79", WHEN),
    _asks(
        "L214",
        f'({WHEN}) || (event.kind == "gpu.held" && event.attributes.xid == 1)',
        f'({WHEN}) || event.kind == "gpu.held"',
    ),
    _asks("L215", WHEN + ' && event.severity == "error"', WHEN + ' && event.severity in ["error", "critical"]'),
    _asks("L216", WHEN + ' && event.severity >= "error"', WHEN + " && event.count >= 2"),
    _asks("L217", WHEN + ' && event.message.matches(".*")', WHEN + ' && event.message.matches("bus.*gone")'),
    _asks("L218", _X + "event.attributes.xid == 79.5", _X + "event.attributes.xid == 79"),
    _asks("L218", _X + "event.count * 1.5 > 3.0", _X + "double(event.count) * 1.5 > 3.0"),
    _asks("L218", WHEN + ' && node.lemon_score > "60"', WHEN + " && node.lemon_score > 60"),
    _asks("L219", WHEN + ' && event.message.endsWith("bus.")', WHEN + ' && event.message.contains("bus.")'),
    _asks("L219", WHEN + ' && event.message.contains("kernel: NVRM")', WHEN + ' && event.message.contains("NVRM")'),
    Case("L221", {**FREE, "unless": WHEN}, {**FREE, "unless": WHEN + " && event.count == 2"}),
    Case("L222", {**FREE, "unless": _X + "event.attributes.xid == 48"}, {**FREE, "unless": "event.count == 2"}),
    Case(
        "L223", {**FREE, "cancel_when": 'event.kind == "gpu.xid"'}, {**FREE, "cancel_when": 'event.kind == "gpu.reset"'}
    ),
    Case(
        "L224",
        {**FREE, "cancel_when": 'event.kind == "gpu.reset"', "settle": "0s"},
        {**FREE, "cancel_when": 'event.kind == "gpu.reset"'},
    ),
    _asks("L225", WHEN + " && facts.age_seconds < 60", WHEN + " && node.repairs_7d == 0 && facts.age_seconds < 60"),
    _asks("L301", _X + "event.attributes.xid in [13, 31]", _X + "event.attributes.xid in [13, 79]"),
    _asks("L301", 'event.kind == "training.user_error"', 'event.kind == "training.gpu_error"'),
    Case(
        "L301",
        {**FREE, "when": _X + "event.attributes.xid == 13"},
        {**FREE, "when": _X + "event.attributes.xid == 13", "count": _JOBS},
    ),
    _asks("L302", _X + "event.attributes.xid == 45", _X + "event.attributes.xid in [45, 79]"),
    Case(
        "L303",
        {"do": ["restart_process"], "limits": {"restarts": _LIMIT}},
        {"do": ["restart_process"], "limits": {"restarts": _LIMIT}, "evidence": "transient"},
    ),
    Case("L304", {"evidence": "transient", "settle": "5m"}, {"evidence": "transient", "settle": "4m"}),
    Case("L305", {"limits": GONE}, {}),
    Case("L306", {"limits": {"reboots": _LIMIT}}, {"limits": {"isolations": _LIMIT}}),
    Case(
        "L307",
        {"limits": {"replacements": {"percent": 100, "within": "1h"}}},
        {"limits": {"replacements": {"percent": 10, "within": "1h"}}},
    ),
    Case(
        "L307",
        {"limits": {"replacements": {**_LIMIT, "per": "job"}}},
        {"limits": {"replacements": {**_LIMIT, "per": "job"}, "isolations": _LIMIT}},
    ),
    Case("L308", {"deadline": GONE}, {"deadline": "15m"}),
    Case("L309", {"deadline": "3m"}, {"deadline": "4m"}),
    _does("L310", ["suspend_job"], ["suspend_job", "page_operator"]),
    Case("L311", {"otherwise": ["isolate", "replace_node"]}, {"otherwise": ["isolate", "page_operator"]}),
    Case("L312", {"approval": True, "do": ["alert"]}, {"approval": True}),
    Case("L313", {"do": ["isolate", "drain"]}, {"do": ["isolate", "drain"], "mode": "shadow"}),
    Case("L314", {**FREE, "when": 'event.kind == "host.panic"', "do": ["reset_gpu"]}, {**FREE, "do": ["reset_gpu"]}),
    Case(
        "L314",
        {**FREE, "do": ["restart_service"]},
        {**FREE, "when": 'event.kind == "imex.error"', "do": ["restart_service"]},
    ),
    _asks(
        "L315",
        'event.kind == "job.failed" && job.orchestrator == "sagemaker"',
        'event.kind == "job.failed" && job.orchestrator == "eks"',
    ),
    _asks("L316", 'event.kind == "storage.nfs_stalled"', 'event.kind == "storage.device_failed"'),
    _does("L317", ["reboot_node"], ["isolate", "reboot_node"], mode="shadow"),
    _asks("L318", 'event.kind == "node.silent"', 'event.kind == "node.not_ready"'),
    Case(
        "L319",
        {"schedule": {"only": ["Mon 08:00-12:00"], "never": ["Mon"]}},
        {"schedule": {"only": ["Mon 08:00-12:00"], "never": ["Mon 09:00-12:00"]}},
    ),
    Case("L320", {"approve_within": "2h"}, {"approve_within": "2h", "approval": True}),
    Case("L320", {"do": ["alert"], "acts": {"at_most": 2}}, {"acts": {"at_most": 2}}),
    Case("L320", {"do": ["resume_job"], "trust": {"of": 20}}, {"trust": {"of": 20}}),
    Case("L321", {"trust": {"at_least": 0}}, {"trust": {"at_least": 0.5}}),
    Case("L322", {"trust": {"at_least": 0.8, "of": 4}}, {"trust": {"at_least": 0.75, "of": 4}}),
    _does("L323", ["isolate", "suspend_job", "resume_job"], ["isolate", "replace_node", "resume_job"], mode="shadow"),
    Case("L323", {"otherwise": ["isolate", "resume_job"]}, {"otherwise": ["isolate", "page_operator"]}),
    Case(
        "L323",
        {**FREE, "do": ["isolate", "resume_job"]},
        {**FREE, "do": ["isolate", "resume_job"], "when": 'event.kind == "instance.spot_interruption"'},
    ),
    _counts("L401", {"at_least": 51, "occurrence": "1s"}, {"at_least": 50, "occurrence": "1s"}),
    _counts(
        "L402",
        {"at_least": 3, "within": "1m", "occurrence": "30s"},
        {"at_least": 2, "within": "1m", "occurrence": "30s"},
    ),
    _counts("L403", {"at_least": 3, "within": "1h"}, {"at_least": 3, "within": "1h", "occurrence": "30s"}),
    _counts("L404", {"at_least": 3, "distinct": "event.attributes.xid"}, {"at_least": 3, "distinct": "job.id"}),
    _counts("L405", {"at_least": 1, "distinct": "job.id"}, {"at_least": 2, "distinct": "job.id"}),
    _counts("L406", {"within": "1d"}, {"within": "1d", "occurrence": "1m"}),
    Case("L407", {**FREE, "for": "5m", "count": {"within": "1h"}}, {**FREE, "for": "5m", "count": {"per": "node"}}),
    Case(
        "L408",
        {**FREE, "for": "5m", "when": 'event.kind == "host.panic"'},
        {**FREE, "for": "5m", "when": 'event.kind == "network.link_down"'},
    ),
    Case(
        "L409",
        {**FREE, "count": {"per": "rack", "at_least": 3}},
        {**FREE, "count": {"per": "rack", "at_least": 3}, "do": ["page_operator"], "otherwise": [], "limits": {}},
    ),
    Case(
        "L410",
        {**FREE, "count": {"per": "rack"}, "do": ["alert"], "otherwise": [], "for": "5m"},
        {**FREE, "count": {"per": "rack"}, "do": ["alert"], "otherwise": []},
    ),
    _counts("L202", {"at_least": 2, "same": "job.shoe"}, {"at_least": 2, "same": "job.step"}),
    _counts("L411", {"at_least": 2, "same": "node.network_path"}, {"at_least": 2, "same": "job.step"}),
    _counts(
        "L412",
        {"at_least": 2, "same": "job.id", "distinct": "job.id"},
        {"at_least": 2, "same": "job.step", "distinct": "job.id"},
    ),
    _counts("L413", {"at_least": 2, "same": "node.name"}, {"at_least": 2, "same": "job.step"}),
    _counts("L414", {"at_least": 2, "same": "node.in_maintenance"}, {"at_least": 2, "same": "job.step"}),
    Case("L501", {"examples": [{**GOOD["examples"][0], "findings": 2}]}, {}),
    Case("L502", {"examples": GONE}, {}),
    Case("L503", {"examples": [GOOD["examples"][0]]}, {}),
    Case("L504", {"examples": [NEGATIVE]}, {}),
    Case("L601", {"cites": []}, {}),
    Case("L602", {"why": "The lost GPU is lost."}, {}),
    Case("L603", {"why": "because " * 70}, {"why": "because of this or that, " * 20}),
    Case("L701", {"otherwise": ["isolate", "reboot_node"]}, {"otherwise": ["isolate", "page_operator"]}),
    Case("L702", {"limits": {"replacements": {"percent": 10, "within": "10m", "per": "rack"}}}, {}),
    Case("L703", {**FREE, "when": SILENT, "unless": "job.step > 9"}, {**FREE, "when": WHEN, "unless": "job.step > 9"}),
)
