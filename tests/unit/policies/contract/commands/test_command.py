"""The life of a command, whatever repeats, comes late or in another order."""

from hypothesis import given
from hypothesis import strategies as st

from functions.twins.commands import MemoryCommands
from policies.contract.commands.command import TABLE, Claim, CommandRecord, CommandStatus, Result
from policies.contract.commands.items import from_item, to_item
from tests.tools.commands import NODE, at, claim, command, result

ENDS = [CommandStatus.DONE, CommandStatus.FAILED]
AGENTS = ["spool-1", "spool-2"]

moments = st.integers(0, 200)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), moments, st.just("")),
        st.tuples(st.just("begin"), moments, st.sampled_from(AGENTS)),
        st.tuples(st.sampled_from(ENDS), moments, st.sampled_from(AGENTS)),
        st.tuples(st.just("refuse"), moments, st.sampled_from(AGENTS)),
        st.tuples(st.just("expire"), moments, st.just("")),
    ),
    max_size=30,
)


class Life:
    """One command; every agent remembers its own claim, as a process does."""

    def __init__(self) -> None:
        self.commands = MemoryCommands()
        self.node = self.commands.of(NODE)
        self.issued = CommandRecord(command=command())
        self.claims: dict[str, Claim] = {}
        self.begun: list[str] = []
        self.seen: list[CommandStatus] = []

    def take(self, what: str, when: int, who: str) -> None:
        if what == "put":
            self.commands.put(command())
        elif what == "begin":
            mine = self.claims.get(who, claim(when, by=who))
            if self.node.begin(self.issued, mine):
                self.claims[who] = mine
                self.begun.append(who)
        elif what == "refuse":
            self.node.turn_down(self.issued, result(when, reason="no"))
        elif what == "expire":
            if self.commands.get(NODE, command().id):
                self.commands.expire(self.issued, at(when))
        elif who in self.claims:
            self.node.end(self.issued, self.claims[who], CommandStatus(what), result(when))
        self._look()

    def _look(self) -> None:
        record = self.commands.get(NODE, command().id)
        if record and (not self.seen or self.seen[-1] is not record.status):
            self.seen.append(record.status)


@given(steps)
def test_one_agent_begins_it_at_most_and_it_only_ever_goes_forward(taken: list[tuple[str, int, str]]) -> None:
    life = Life()
    for step in taken:
        life.take(*step)
    assert len(set(life.begun)) <= 1
    assert all(after in TABLE[before] for before, after in zip(life.seen, life.seen[1:], strict=False))
    assert life.seen[:1] in ([], [CommandStatus.PENDING])


@given(steps)
def test_what_ran_was_begun_in_time_and_has_one_result(taken: list[tuple[str, int, str]]) -> None:
    life = Life()
    for step in taken:
        life.take(*step)
    record = life.commands.get(NODE, command().id)
    if record is None:
        return
    assert (record.claim is not None) == bool(life.begun)
    assert record.claim is None or record.claim.at < record.command.expires_at
    assert (record.result is not None) == (record.status in {*ENDS, CommandStatus.REFUSED})


@given(steps)
def test_every_step_of_a_history_may_be_written_twice(taken: list[tuple[str, int, str]]) -> None:
    once, twice = Life(), Life()
    for step in taken:
        once.take(*step)
        twice.take(*step)
        twice.take(*step)
    assert once.commands.records == twice.commands.records


@given(st.text(max_size=300), st.text(max_size=300), st.sampled_from(list(CommandStatus)))
def test_an_item_is_read_as_it_was_written(output: str, reason: str, status: CommandStatus) -> None:
    told = Result(at=at(3), output=output, reason=reason, facts={"gpu": output, "count": 3, "well": True})
    record = CommandRecord(command=command(), status=status, claim=claim(), result=told)
    assert from_item(to_item(record)) == record
    assert from_item(to_item(CommandRecord(command=command()))).result is None
