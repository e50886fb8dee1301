"""Whatever persons say, and however often, what is kept of it has its bounds, and the longest refusals stay."""

import pytest

from functions.adapters.coordination_items import incident_item, lease_item
from policies.contract.restraints import LONGEST_DENIED_SECONDS, ApproveMessage
from policies.coordination.denials import MOST_DENIALS, MOST_REFUSALS
from policies.coordination.snapshot import Keys
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, findings
from tests.tools.refusals import HOUR, gpu, no, opened, seen

ITEM = 400 * 1024
PARTS = MOST_REFUSALS + 4


def test_many_words_on_many_parts_fit_their_items_and_those_that_hold_longest_stay() -> None:
    table, long = DecisionTable(), "\U0001f600" * 50_000
    for part in range(PARTS):
        start = part * 100.0
        table.take(start, findings(seen(start, component=gpu(part))))
        (asking,) = opened(table)
        table.answer(start + 1, ask(asking.id))
        for word in range(MOST_DENIALS + 4):
            hours = 0.0 if part in {3, 5} else 10.0 + part
            said = no(asking, start + 2 + word, hours=hours, by=f"ann{long}", reason=f"{word} {long}")
            assert not table.take(start + 20 + word, said, said).refused
        denied = next(each for each in table.incidents if each.id == asking.id)
        assert len(denied.denials) == MOST_DENIALS
        assert len(str(incident_item(denied))) < ITEM / 4
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert len(lease.refusals) == MOST_REFUSALS
    assert len(str(lease_item(lease)).encode()) < ITEM / 4
    later = 2.5 * HOUR
    table.take(later, findings(*(seen(later, component=gpu(part)) for part in range(6, PARTS))))
    assert opened(table) == []


@pytest.mark.parametrize("seconds", [-1.0, LONGEST_DENIED_SECONDS + 1, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="for_seconds"):
        ApproveMessage(cluster=CLUSTER, incident="1", by="ann", approved=False, for_seconds=seconds)
