"""The order of events, whatever the order of what happens."""

from collections.abc import Iterable
from typing import Any, Literal

from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    Event,
    ModelReplied,
    RunEnded,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.surfaces.grpc.events import EventTranslator
from bridle.surfaces.grpc.generated.kontekst_pb2 import ContextSnapshot, RunEvent

RUN = RunId("run")
Fate = Literal["runs", "fails", "denied", "unknown", "hopeless", "refused late"]
FATES: list[Fate] = ["runs", "fails", "denied", "unknown", "hopeless", "refused late"]
ENDED = TurnEnded(RUN, 1, Usage(), ContextUsage())


def named(number: int) -> CallId:
    return CallId(f"c{number}")


def reply(*calls: CallId, text: str = "") -> ModelReplied:
    parts = (*((Text(text),) if text else ()), *(ToolCall(call_id, "look", {"on": "a"}) for call_id in calls))
    return ModelReplied(RUN, 1, Message("assistant", parts), "tool_use", Usage())


def asked(call_id: str, parent: str | None = None) -> ApprovalRequested:
    above = None if parent is None else CallId(parent)
    return ApprovalRequested(CallId(call_id), "look", {"on": "a"}, "why", f"see {call_id}", parent=above)


def decided(call_id: str, answer: Any = "once") -> ApprovalDecided:
    return ApprovalDecided(CallId(call_id), answer)


def started(call_id: str, parent: str | None = None) -> ToolStarted:
    return ToolStarted(CallId(call_id), "look", {}, parent=None if parent is None else CallId(parent))


def finished(
    call_id: str, *, error: bool = False, denied: bool = False, parent: str | None = None
) -> ToolFinished:
    result = ToolResult(CallId(call_id), "look", f"end of {call_id}", is_error=error)
    return ToolFinished(result, denied=denied, parent=None if parent is None else CallId(parent))


def ended(outcome: Any, text: str = "", reason: str = "") -> RunEnded:
    return RunEnded(RUN, outcome, text, reason)


def plain(events: Iterable[RunEvent]) -> list[Any]:
    """Shorten events: the name alone, or with the call, or with the text."""
    told: list[Any] = []
    for event in events:
        kind = event.WhichOneof("event")
        assert kind is not None
        fields = MessageToDict(getattr(event, kind), preserving_proto_field_name=True)
        if kind == "tools_proposed":
            told.append((kind, *(call["call_id"] for call in fields["calls"])))
        else:
            found = next((fields[key] for key in ("call_id", "content", "error") if key in fields), None)
            told.append(kind if found is None else (kind, found))
    return told


def tell(*events: Event, proposes_all: bool = True) -> list[Any]:
    """Translate a run."""
    translation = EventTranslator(RUN, proposes_all=proposes_all)
    told: list[RunEvent] = []
    for event in events:
        assert not translation.is_over
        if isinstance(event, ModelReplied):
            told += translation.reply(event, ContextSnapshot())[:1]
        else:
            told += translation.add(event)
    return plain(told)


def pair(call_id: str, end: str = "tool_completed") -> list[Any]:
    return [("tool_started", call_id), (end, call_id)]


# ---------------------------------------------------------------------------- any order


class World:
    """The calls of a turn, in a randomly drawn order."""

    def __init__(self, fates: list[Fate], draw: Any) -> None:
        self.fates = dict(zip(map(named, range(len(fates))), fates, strict=True))
        self.events: list[Event] = [reply(*self.fates)]
        self.done: set[CallId] = set()
        self._draw = draw
        self._next: dict[CallId, list[Event]] = {}
        self._unseen = [call_id for call_id, fate in self.fates.items() if fate != "unknown"]
        for call_id, fate in self.fates.items():
            if fate == "unknown":
                self._happen(finished(call_id, error=True))

    @property
    def proposal(self) -> list[Any]:
        """The proposal of all calls that are asked about, if there are any."""
        asked = [call_id for call_id, fate in self.fates.items() if fate not in ("unknown", "hopeless")]
        return [("tools_proposed", *asked)] if asked else []

    @property
    def is_done(self) -> bool:
        return len(self.done) == len(self.fates)

    @property
    def has_previews(self) -> bool:
        return bool(self._unseen)

    def step(self) -> None:
        """Let one of the things happen that can: the next preview, a decision, a start, an end."""
        ready = [call_id for call_id, rest in self._next.items() if rest]
        choice = self._draw(st.sampled_from([*ready, *(["preview"] if self._unseen else [])]))
        if choice == "preview":
            self._preview(self._unseen.pop(0))
        else:
            self._happen(self._next[choice].pop(0))

    def _preview(self, call_id: CallId) -> None:
        fate = self.fates[call_id]
        if fate == "hopeless":
            self._happen(finished(call_id, error=True))
            return
        self._happen(asked(call_id))
        self._next[call_id] = {
            "runs": [decided(call_id), started(call_id), finished(call_id)],
            "fails": [decided(call_id), started(call_id), finished(call_id, error=True)],
            "denied": [decided(call_id, "deny"), finished(call_id, error=True, denied=True)],
            "refused late": [decided(call_id), finished(call_id, error=True)],
        }[fate]

    def _happen(self, event: Event) -> None:
        self.events.append(event)
        if isinstance(event, ToolFinished):
            self.done.add(event.result.call_id)

    def cut_off(self) -> list[Event]:
        """Close what is open, as a cancelled run does."""
        closed = [finished(call_id, error=True) for call_id in self.fates if call_id not in self.done]
        return [*closed, ENDED, ended("cancelled")]


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=6), st.data())
def test_calls_are_proposed_together_and_told_one_after_the_other(fates: list[Fate], data: st.DataObject):
    world = World(fates, data.draw)
    while not world.is_done:
        world.step()

    told = tell(*world.events, ENDED, TurnStarted(RUN, 2))

    after = told[1 + len(world.proposal) :]
    pairs = list(zip(after[:-1:2], after[1:-1:2], strict=True))
    ends = {"runs": "tool_completed", "denied": None}
    expected = [
        pair(call_id, end)
        for call_id, fate in world.fates.items()
        if (end := ends.get(fate, "tool_failed")) is not None
    ]
    assert told[: -len(after)] == ["turn_completed", *world.proposal]
    assert sorted(map(list, pairs)) == expected
    assert after[-1] == "tools_completed"


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=6))
def test_a_proposal_waits_for_nothing_but_the_previews(fates: list[Fate]):
    world = World(fates, lambda _: "preview")
    while world.has_previews:
        world.step()

    told = tell(*world.events)

    assert told[1:] == world.proposal


@given(st.lists(st.sampled_from(FATES), min_size=1, max_size=6), st.integers(0, 30), st.data())
def test_a_run_that_is_cut_off_ends_at_once(fates: list[Fate], steps: int, data: st.DataObject):
    world = World(fates, data.draw)
    for _ in range(steps):
        if not world.is_done:
            world.step()
    if world.is_done:
        return

    told = tell(*world.events, *world.cut_off())

    begun = {event.call_id for event in world.events if isinstance(event, ToolStarted)}
    kinds = [one[0] if isinstance(one, tuple) else one for one in told]
    rest = [one for one in told[1:-1] if one[0] != "tools_proposed"]
    assert (kinds[0], kinds[-1]) == ("turn_completed", "cancelled")
    assert "tools_completed" not in kinds
    assert [one for one in told if one[0] == "tools_proposed"] == [
        one for one in tell(*world.events) if one[0] == "tools_proposed"
    ]
    if "tools_proposed" in kinds:
        assert {one[1] for one in rest} == begun
        assert [kind for kind, _ in rest[::2]] == ["tool_started"] * len(begun)
    else:
        assert rest == []


# ---------------------------------------------------------------------------- by hand


def test_by_rules_each_question_is_a_proposal():
    told = tell(
        reply(named(1), named(2), named(3)),
        started("c1"),
        asked("c2"),
        finished("c1"),
        asked("c3"),
        decided("c3", "deny"),
        finished("c3", error=True, denied=True),
        decided("c2"),
        started("c2"),
        finished("c2"),
        ENDED,
        TurnStarted(RUN, 2),
        reply(text="Done."),
        ended("completed", "Done."),
        proposes_all=False,
    )

    assert told == [
        "turn_completed",
        ("tool_started", "c1"),
        ("tools_proposed", "c2"),
        ("tool_completed", "c1"),
        ("tools_proposed", "c3"),
        *pair("c2"),
        "tools_completed",
        ("turn_completed", "Done."),
        ("completed", "Done."),
    ]


def test_calls_that_cannot_be_made_are_told_in_the_order_of_the_model():
    told = tell(
        reply(named(1), named(2)),
        finished("c2", error=True),
        finished("c1", error=True),
        ENDED,
        TurnStarted(RUN, 2),
    )

    assert told == [
        "turn_completed",
        *pair("c1", "tool_failed"),
        *pair("c2", "tool_failed"),
        "tools_completed",
    ]


def test_a_skill_is_not_proposed_and_others_do_not_wait_for_it():
    skill = ToolCall(named(2), "skill", {"name": "deploy"})
    look = ToolCall(named(1), "look", {"on": "a"})
    told = tell(
        ModelReplied(RUN, 1, Message("assistant", (look, skill)), "tool_use", Usage()),
        asked("c1"),
        decided("c1"),
        started("c1"),
        started("c2"),
        finished("c1"),
        finished("c2"),
        ENDED,
        TurnStarted(RUN, 2),
    )

    assert told == ["turn_completed", ("tools_proposed", "c1"), *pair("c1"), *pair("c2"), "tools_completed"]


def test_calls_that_code_makes_are_told_within_its_own():
    told = tell(
        reply(named(1), named(2), named(3)),
        asked("c1"),
        asked("c2"),
        asked("c3"),
        decided("c1"),
        started("c1"),
        decided("c2"),
        started("c2"),
        asked("n1", parent="c1"),
        decided("n1"),
        started("n1", parent="c1"),
        asked("n2", parent="c2"),
        decided("n2", "deny"),
        finished("n2", error=True, denied=True, parent="c2"),
        finished("c2"),
        finished("n1", parent="c1"),
        finished("n3", error=True, parent="c1"),
        asked("n4", parent="c1"),
        finished("c1"),
        finished("n4", error=True, parent="c1"),
        finished("n5", error=True, parent="c1"),
        decided("c3"),
        started("c3"),
        finished("c3"),
        ENDED,
        TurnStarted(RUN, 2),
    )

    assert told == [
        "turn_completed",
        ("tools_proposed", "c1", "c2", "c3"),
        ("tool_started", "c1"),
        ("tools_proposed", "n1"),
        ("tool_started", "n1"),
        ("tools_proposed", "n2"),
        ("tool_completed", "n1"),
        *pair("n3", "tool_failed"),
        ("tools_proposed", "n4"),
        ("tool_completed", "c1"),
        *pair("c2"),
        *pair("n5", "tool_failed"),
        *pair("c3"),
        "tools_completed",
    ]


def test_a_denial_empties_only_the_end_that_it_led_to():
    denied = [asked("c1"), decided("c1", "deny"), finished("c1", error=True, denied=True), ENDED]
    ends_with_it = tell(reply(named(1), text="I look."), *denied, ended("completed", "I look."))
    goes_on = tell(
        reply(named(1), text="I look."),
        *denied,
        TurnStarted(RUN, 2),
        reply(text="Then not."),
        ended("completed", "Then not."),
        proposes_all=False,
    )

    assert ends_with_it[-2:] == ["tools_completed", "completed"]
    assert goes_on[-1] == ("completed", "Then not.")


def test_limits_and_budgets_are_failures_after_the_turn():
    turn = [reply(named(1)), asked("c1"), decided("c1"), started("c1"), finished("c1"), ENDED]
    spent = BudgetExhausted("tokens", 10, 5)

    for outcome in ("limit", "budget_exhausted", "failed"):
        told = tell(*turn, spent, ended(outcome, "words", "too much"))
        assert told[-2:] == ["tools_completed", ("failed", "too much")]


def test_another_run_and_what_has_no_words_here_are_left_out():
    translation = EventTranslator(RUN, proposes_all=True)
    told = [
        *translation.add(RunEnded(RunId("other"), "completed")),
        *translation.add(BudgetExhausted("tokens", 10, 5)),
        *translation.abort(Aborted(RunId("other"), "x")),
    ]

    assert (told, translation.is_over) == ([], False)


def test_an_end_that_could_not_be_recorded_is_a_failure():
    translation = EventTranslator(RUN, proposes_all=True)

    told = plain(translation.abort(Aborted(RUN, "the disk is full")))

    assert (told, translation.is_over) == ([("failed", "the disk is full")], True)


def test_only_what_was_proposed_may_be_decided_on():
    translation = EventTranslator(RUN, proposes_all=True)
    translation.reply(reply(named(1), named(2)), ContextSnapshot())
    translation.add(asked("c1"))
    before = set(translation.proposed)
    translation.add(asked("c2"))

    assert (before, translation.proposed) == (set(), {"c1", "c2"})
