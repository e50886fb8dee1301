import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relight_training.point import RefusedError, ResumePoint, from_annotations, from_environment, from_pointer

GOOD = {"step": 40, "path": "s3://b/run/step-40", "incident": "inc-1", "time": "2026-03-01T12:00:00.000000Z"}


def pointer(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def test_a_pointer_tells_step_path_incident_and_time() -> None:
    assert from_pointer(pointer(), "there") == ResumePoint(
        step=40,
        path="s3://b/run/step-40",
        incident="inc-1",
        decided_at=datetime(2026, 3, 1, 12, tzinfo=UTC),
        told_by="there",
    )


def test_a_pointer_may_tell_no_incident_and_no_time() -> None:
    assert from_pointer(b'{"step": 0, "path": "step-0"}', "").incident is None


@pytest.mark.parametrize("cut", range(0, len(pointer()), 7))
def test_a_half_written_pointer_is_refused(cut: int) -> None:
    with pytest.raises(RefusedError, match="half written"):
        from_pointer(pointer()[:cut], "")


@pytest.mark.parametrize(
    "changes",
    [
        *({"step": step} for step in (None, True, -1, 1.0, "40", 2**63, [40])),
        *({"path": path} for path in (None, "", 7, "a\x00b", "a\nb", "x" * 5000, "s3://b/run/../other", "../../etc")),
        *({"incident": incident} for incident in (7, "x" * 300, "a\nb")),
        *({"time": time} for time in ("yesterday", 7, [1])),
    ],
)
def test_a_hostile_pointer_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError):
        from_pointer(pointer(**changes), "")


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"\xff\xfe", b"[" * 60_000, b'"' + b"x" * 70_000 + b'"'])
def test_what_is_no_pointer_is_refused(body: bytes) -> None:
    with pytest.raises(RefusedError):
        from_pointer(body, "")


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_else_than_be_refused(body: bytes) -> None:
    with pytest.raises(RefusedError):
        from_pointer(body, "")


@pytest.mark.parametrize(
    ("environ", "step"),
    [
        ({"RELIGHT_RESUME_STEP": "20", "RELIGHT_RESUME_FROM": "s3://b/run/step-20"}, 20),
        ({"RELIGHT_RESUME_FROM": "s3://b/run/iter_0000300"}, 300),
        ({"RELIGHT_RESUME_FROM": "/c/epoch=1-step=70.ckpt"}, 70),
    ],
)
def test_the_environment_tells_a_point(environ: dict[str, str], step: int) -> None:
    point = from_environment(environ)
    assert point is not None
    assert (point.step, point.path, point.told_by) == (step, environ["RELIGHT_RESUME_FROM"], "environment")


@pytest.mark.parametrize("environ", [{}, {"RELIGHT_RESUME_STEP": "", "RELIGHT_RESUME_FROM": " "}])
def test_annotations_that_are_not_there_are_empty_variables_and_no_point(environ: dict[str, str]) -> None:
    assert from_environment(environ) is None


@pytest.mark.parametrize(
    "environ",
    [
        {"RELIGHT_RESUME_STEP": "20"},
        {"RELIGHT_RESUME_FROM": "s3://b/run/last"},
        {"RELIGHT_RESUME_STEP": "x", "RELIGHT_RESUME_FROM": "p"},
        {"RELIGHT_RESUME_STEP": "9" * 40, "RELIGHT_RESUME_FROM": "p"},
        {"RELIGHT_RESUME_STEP": "²", "RELIGHT_RESUME_FROM": "p"},
    ],
)
def test_half_a_point_is_refused(environ: dict[str, str]) -> None:
    with pytest.raises(RefusedError):
        from_environment(environ)


def test_the_downward_apis_file_tells_a_point() -> None:
    text = (
        'kubernetes.io/config.seen="now"\nrelight.dev/resume-from="s3://b/run/step-40"\nrelight.dev/resume-step="40"\n'
    )
    point = from_annotations(text)
    assert point is not None
    assert (point.step, point.path, point.told_by) == (40, "s3://b/run/step-40", "annotations")


@pytest.mark.parametrize(
    "text", ["", "relight.dev/resume-from", 'relight.dev/resume-from="', "relight.dev/resume-step=40"]
)
def test_a_file_without_them_tells_none(text: str) -> None:
    assert from_annotations(text) is None
