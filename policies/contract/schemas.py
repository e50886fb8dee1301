"""JSON Schemas of the wire forms, generated from the models.

Decides which models are wire forms. It must not write files: the tool in tests/tools does.
"""

import json

from pydantic import BaseModel

from policies.contract.archive import HappeningLine, RecordLine
from policies.contract.decisions import (
    Answer,
    AskMessage,
    CloseMessage,
    Finding,
    FindingsMessage,
    RungReport,
    RungRequest,
    SweepMessage,
)
from policies.contract.envelope import Envelope
from policies.contract.events import FaultEvent
from policies.contract.restraints import ApproveMessage, VerdictMessage

WIRE_FORMS: dict[str, type[BaseModel]] = {
    "envelope": Envelope,
    "fault_event": FaultEvent,
    "finding": Finding,
    "findings_message": FindingsMessage,
    "ask_message": AskMessage,
    "sweep_message": SweepMessage,
    "close_message": CloseMessage,
    "approve_message": ApproveMessage,
    "verdict_message": VerdictMessage,
    "answer": Answer,
    "rung_report": RungReport,
    "rung_request": RungRequest,
    "archived_record": RecordLine,
    "archived_happening": HappeningLine,
}


def render_schemas() -> dict[str, str]:
    """Return file name -> text of every schema, in a stable order."""
    return {f"{name}.json": _render(model) for name, model in WIRE_FORMS.items()}


def _render(model: type[BaseModel]) -> str:
    schema = model.model_json_schema(mode="serialization")
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
