"""A job may be called anything of 512 characters; a sort key has 1,024 bytes, a key of an index 2,048 (DynamoDB)."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.adapters import coordination_items as items
from policies.contract.events import LONGEST_JOB_ID, JobRef
from policies.coordination.about_runs import generation_of_run
from policies.coordination.windows import window_key
from policies.facts.registry import DOCUMENTS
from tests.tools.envelopes import event, node
from tests.tools.incidents import CLUSTER

SORT_KEY, INDEX_KEY = 1024, 2048
NAMES = ["j" * LONGEST_JOB_ID, "é" * LONGEST_JOB_ID, "漢" * LONGEST_JOB_ID, "😀" * LONGEST_JOB_ID, "train/llm", ""]


@pytest.mark.parametrize("name", NAMES)
def test_every_item_about_a_job_has_a_key_that_fits(name: str) -> None:
    run = generation_of_run(JobRef(id=name))
    window = window_key("p" * 63, f"job:{name}")
    keys = (items.job_key(CLUSTER, name), items.lease_key(CLUSTER, run), items.window_key(CLUSTER, window))
    for key in keys:
        assert len(key["sk"]["S"].encode()) <= SORT_KEY
    assert len(f"{'c' * 100}#{items.fitting(name)}".encode()) <= INDEX_KEY


@pytest.mark.parametrize("name", NAMES)
def test_no_fact_is_asked_for_under_a_key_that_does_not_fit(name: str) -> None:
    asked = event(job=JobRef(id=name))
    for document in DOCUMENTS.values():
        subject = document.subject(asked, node("i" * 200))
        assert subject is None or len(document.sort_key(subject).encode()) <= SORT_KEY


def test_two_jobs_with_long_names_have_different_keys_and_usual_names_stay_readable() -> None:
    one, other = ("漢" * 500 + end for end in "ab")
    assert items.fitting(one) != items.fitting(other)
    assert items.job_key(CLUSTER, "train/llm")["sk"] == {"S": "JOB#train/llm"}


def test_the_holds_of_a_job_never_lie_where_it_is_kept_how_another_one_goes() -> None:
    goes = DOCUMENTS["job"].sort_key
    for name in ("a", "train/llm", "a#progress", ""):
        assert items.job_key(CLUSTER, f"{name}#progress")["sk"] != {"S": goes(name)}
    assert items.job_key(CLUSTER, "a#progress/b")["sk"] == {"S": "JOB#a#progress/b"}  # as before, where it is plain


words = st.lists(st.sampled_from(["a", "#", "progress", "lease", "history", "JOB", "run", "|"]), max_size=6).map(
    "".join
)


@settings(max_examples=200, deadline=None)
@given(st.lists(words, min_size=2, max_size=4, unique=True))
def test_whatever_jobs_are_called_no_two_documents_share_an_item(names: list[str]) -> None:
    keys = [
        *(items.job_key(CLUSTER, name)["sk"]["S"] for name in names),
        *(DOCUMENTS["job"].sort_key(name) for name in names),
        *(items.lease_key(CLUSTER, generation_of_run(JobRef(id=name)))["sk"]["S"] for name in names),
        *(items.window_key(CLUSTER, window_key("p", f"job:{name}"))["sk"]["S"] for name in names),
    ]
    assert [each for each in combinations(keys, 2) if each[0] == each[1]] == []
