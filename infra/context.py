"""What the command line and cdk.json say: CDK's own switches, and ours (`settings`, `layer`).

The same template must come out of `python -m infra.app` and of the cdk command, so both read cdk.json.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from infra.node import ROOT
from infra.settings import DEFAULT, DeploymentError

OURS = {
    "settings": "a TOML or JSON file as infra/settings.py describes it",
    "layer": "`none` leaves the Lambda layer out, as the embedded AWS does",
}


def gather(argv: Sequence[str], environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the context: cdk.json's, then what the cdk command passes on, then ``-c key=value`` of *argv*."""
    declared = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["context"]
    passed = json.loads(environ.get("CDK_CONTEXT_JSON") or "{}")
    return {**declared, **passed, **dict(_pairs(argv))}


def settings_path(context: Mapping[str, Any]) -> Path:
    """Return the file that describes the deployment."""
    return Path(context["settings"]) if "settings" in context else DEFAULT


def _pairs(argv: Sequence[str]) -> list[tuple[str, str]]:
    pairs = []
    rest = list(argv)
    while rest:
        flag, value = rest.pop(0), rest.pop(0) if rest else ""
        key, equals, text = value.partition("=")
        if flag not in {"-c", "--context"} or not equals:
            known = "; ".join(f"{name}: {what}" for name, what in OURS.items())
            raise DeploymentError(f"{flag} {value} is not understood. Use -c key=value with {known}.")
        pairs.append((key, text))
    return pairs
