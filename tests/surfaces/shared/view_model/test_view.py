"""What people see of every kind of event, item by item."""

from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import (
    Aborted,
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Compacted,
    Delta,
    Event,
    FilesChanged,
    HookCompleted,
    Lagged,
    MessageAdded,
    ModelReplied,
    Notice,
    PromptQueued,
    Question,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    Record,
    Retrying,
    Rewound,
    RunResumed,
    RunStarted,
    SessionConfigured,
    SessionCreated,
    SessionOptions,
    TextDelta,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
    TurnStarted,
)
from bridle.core.revision import FileChange, FileState
from bridle.core.session import fold
from bridle.core.session_status import make_session_status
from bridle.surfaces.shared.view_model.bounded_text import OUTPUT_CHARS, WRITTEN_CHARS
from bridle.surfaces.shared.view_model.view import ViewModel
from bridle.surfaces.shared.view_model.view_types import (
    Answer,
    Attached,
    Call,
    Drop,
    Flash,
    Grow,
    HeadChanged,
    Item,
    Note,
    Patch,
    Put,
    Reset,
    Said,
    Thought,
)
from tests.surfaces.shared.view_model.screen import (
    RUN,
    USAGE,
    DictScreen,
    S,
    call,
    created,
    finished,
    replied,
    run_ended,
    said,
    started,
    turn_ended,
)

TURN: list[Event] = [RunStarted(RUN, "scripted/x"), said("go"), TurnStarted(RUN, 1)]
HOME = "run-1.1"


class Theatre:
    """A board and a screen that shows it; every event happens a second after the one before."""

    def __init__(self, *events: Event) -> None:
        first = Record(1, 1_000, created(), "")
        self.board = ViewModel(make_session_status(fold([first])))
        self.screen = DictScreen(self.board.view)
        self.seq = 1
        self.play(*events)

    def play(self, *items: Event | Delta) -> list[Patch]:
        """Apply events; return the patches of the last one."""
        told: list[Patch] = []
        for item in items:
            is_delta = isinstance(item, Delta)
            if not is_delta:
                self.seq += 1
            told = self.board.add(item if is_delta else Record(self.seq, self.seq * 1_000, item, ""))
            self.screen.apply(told)
        assert self.screen.items == list(self.board.items)
        return told

    @property
    def last(self) -> Any:
        return self.board.items[-1]

    def call(self, call_id: str) -> Call:
        return next(item for item in self.board.items if isinstance(item, Call) and item.call_id == call_id)


def shown(items: tuple[Item, ...]) -> list[str]:
    """Return the items in few words."""
    return [
        f"{item.call_id} {item.state}" if isinstance(item, Call) else f"{type(item).__name__}: {item.text}"
        for item in items
    ]


# ---------------------------------------------------------------------------- words


def test_what_a_person_says_stands_there_with_what_is_attached():
    picture, paper = Media("image/png", "AAAA", "a.png"), Media("application/pdf", "BBBB", "b.pdf")
    stage = Theatre(MessageAdded(Message("user", (Text("look"), picture, paper)), "steer"))

    assert stage.board.items == (
        Said(
            key="m2",
            seq=2,
            at=2_000,
            text="look",
            source="steer",
            attached=(Attached("image/png", "a.png", "AAAA"), Attached("application/pdf", "b.pdf")),
        ),
    )


def test_a_reply_is_live_first_and_keeps_its_place_and_key():
    stage = Theatre(*TURN)

    begun = stage.play(ReasoningDelta("h"))
    grown = stage.play(ReasoningDelta("m"))
    stage.play(TextDelta("Hel"), TextDelta("lo"))
    live = stage.board.items[-2:]
    settled = stage.play(replied("Hello", thought="hm"))

    thought = Thought(key=f"{HOME}.thought0", seq=4, at=0, text="h", is_live=True)
    assert begun[0] == Put(thought)
    assert grown == [Grow(thought.key, "m")]
    assert live == (
        replace(thought, text="hm", is_live=False),  # the words have begun
        Answer(key=f"{HOME}.text0", seq=4, at=0, text="Hello", is_live=True),
    )
    assert settled[:2] == [
        Put(Thought(key=thought.key, seq=5, at=5_000, text="hm")),
        Put(Answer(key=f"{HOME}.text0", seq=5, at=5_000, text="Hello")),
    ]


def test_parts_that_come_by_turns_are_items_of_their_own():
    stage = Theatre(*TURN)

    stage.play(TextDelta("a"), ReasoningDelta("b"), TextDelta("c"), ToolCallDelta(CallId("x"), "bash", "{"))
    live = [item.key for item in stage.board.items[1:]]
    message = Message("assistant", (Text("a"), Reasoning("b"), Text("c"), call("x", "bash")))
    stage.play(replace(replied("."), message=message))

    assert live == [f"{HOME}.text0", f"{HOME}.thought0", f"{HOME}.text1", "x"]
    assert [item.key for item in stage.board.items[1:]] == live


def test_a_model_that_never_stops_changing_its_mind_makes_few_items():
    stage = Theatre(*TURN)

    for _ in range(500):
        stage.play(TextDelta("a"), ReasoningDelta("b"))

    assert len(stage.board.items) == 1 + 100
    assert "".join(item.text for item in stage.board.items if isinstance(item, Answer)) == "a" * 500


def test_a_reply_that_is_other_than_what_was_live_takes_its_place():
    stage = Theatre(*TURN)
    stage.play(TextDelta("a"), ToolCallDelta(CallId("x"), "bash", "{"))

    told = stage.play(replied("b", call("y", "bash")))

    assert told[:2] == [Drop(f"{HOME}.text0"), Drop("x")]
    assert shown(stage.board.items) == ["Said: go", "Answer: b", "y running"]


@pytest.mark.parametrize("event", [Retrying(RUN, 1, 1, 3, "rate_limited", "slow", 2_000), run_ended()])
def test_what_was_live_and_is_void_goes(event: Event):
    stage = Theatre(*TURN)
    stage.play(TextDelta("half"), ToolCallDelta(CallId("x"), "bash", "{"))

    stage.play(event)

    assert [type(item) for item in stage.board.items] == [Said, Note]


def test_what_happens_meanwhile_stands_before_what_is_live():
    stage = Theatre(*TURN)
    stage.play(TextDelta("half"))

    told = stage.play(ChildEnded(SessionId("c"), "completed", turns=1, cost=0.5))

    assert isinstance(told[0], Put)
    assert told[0].before == f"{HOME}.text0"
    assert [type(item) for item in stage.board.items] == [Said, Note, Answer]


def test_a_conversation_from_elsewhere_has_its_calls_and_results():
    told = Message("assistant", (Text("I look"), call("c1"), call("c2")))
    results = Message("tool", (ToolResult(CallId("c1"), "read_file", "no", True),))
    summary = Compacted(user_message("so far"), 0, 9, 4, 1, 60, 12)
    stage = Theatre(summary, MessageAdded(told, "fork"), MessageAdded(results, "fork"))

    assert shown(stage.board.items) == ["Said: so far", "Answer: I look", "c1 failed", "c2 lost"]


def test_where_a_session_comes_from_is_said():
    forked = SessionCreated(S, "/", parent=SessionId("mother"), forked_at=7)
    board = ViewModel(make_session_status(fold([Record(1, 1, forked, "")])))

    board.add(Record(1, 1, forked, ""))

    assert shown(board.items) == ["Note: forked from mother at event 7"]


# ---------------------------------------------------------------------------- calls


def test_a_call_from_its_first_letter_to_its_result():
    stage = Theatre(*TURN)
    states = []

    stage.play(ToolCallDelta(CallId("c"), "bash", '{"comm'), ToolCallDelta(CallId("c"), "", 'and":"make"}'))
    states.append(stage.last)
    stage.play(replied(call("c", "bash", command="make")))
    states.append(stage.last)
    stage.play(ApprovalRequested(CallId("c"), "bash", {"command": "make"}, "no rule", "$ make"))
    states.append(stage.last)
    stage.play(ApprovalDecided(CallId("c"), "once"))
    stage.play(started("c", "bash", command="make"))
    states.append(stage.last)
    stage.play(ToolOutputDelta(CallId("c"), "one\n"), ToolOutputDelta(CallId("c"), "two\n"))
    states.append(stage.last)
    stage.play(
        FilesChanged((FileChange("a.py", None, FileState("file", 0o644, "0" * 64, 3)),), CallId("c")),
        finished("c", "one\ntwo\n", "bash", diff="+a", answer="42"),
    )

    writing = Call(
        key="c",
        seq=4,
        at=0,
        call_id=CallId("c"),
        tool="bash",
        state="writing",
        written='{"command":"make"}',
    )
    wanted = Call(
        key="c",
        seq=5,
        at=5_000,
        call_id=CallId("c"),
        tool="bash",
        state="running",
        args={"command": "make"},
        brief="make",
    )
    running = replace(wanted, started_at=8_000)
    assert states == [
        writing,
        wanted,
        replace(wanted, state="waiting", why="no rule", preview="$ make"),
        running,
        replace(running, output="one\ntwo\n"),
    ]
    assert stage.last == replace(
        running,
        state="done",
        output="one\ntwo\n",
        diff="+a",
        changed="created a.py",
        duration_ms=12,
        answer="42",
    )


def test_a_call_that_is_denied_says_why():
    stage = Theatre(*TURN, replied(call("c", "bash")))
    stage.play(
        ApprovalRequested(CallId("c"), "bash", {}, "no rule"), ApprovalDecided(CallId("c"), "stop", "no")
    )
    decided = (stage.last.state, stage.last.why)

    stage.play(finished("c", "denied: no", "bash", is_error=True, denied=True))

    assert decided == ("denied", "no")
    assert (stage.last.state, stage.last.why, stage.last.output) == ("denied", "no", "denied: no")


def test_a_rule_that_denies_a_call_is_the_reason():
    stage = Theatre(*TURN, replied(call("c", "bash")))

    stage.play(finished("c", "rule bash(rm *) denies it", "bash", is_error=True, denied=True))

    assert (stage.last.state, stage.last.why) == ("denied", "rule bash(rm *) denies it")


def test_a_question_makes_its_call_wait():
    stage = Theatre(*TURN, replied(call("c", "ask_user")), started("c", "ask_user"))

    stage.play(QuestionAsked(CallId("c"), Question("Which?")))
    waiting = (stage.last.state, stage.board.head.state, stage.board.head.run.doing)
    stage.play(QuestionAnswered(CallId("c"), ("a",)))

    assert waiting == ("waiting", "waiting", "waits for you")
    assert (stage.last.state, stage.board.head.state) == ("running", "running")


def test_what_a_sub_agent_asks_for_is_in_the_head_and_no_call():
    stage = Theatre(*TURN, replied(call("c", "agent")), started("c", "agent"))
    child = SessionId("child")
    stage.play(ChildStarted(child, "scout", "look", CallId("c")))

    asked = ApprovalRequested(CallId("child/x"), "bash", {}, "no rule", child=child)
    stage.play(asked)

    assert shown(stage.board.items) == ["Said: go", "c running"]
    assert (stage.last.child, stage.board.head.approvals) == (child, (asked,))


def test_calls_of_code_stand_after_their_parent_in_their_order():
    code = call("code", "python", code="x()")
    stage = Theatre(*TURN, replied(code, call("other")), started("code", "python", code="x()"))

    stage.play(started("i1", parent="code"), started("i2", parent="code"), started("deep", parent="i1"))
    told = stage.play(
        ToolFinished(ToolResult(CallId("i3"), "bash", "no", True), denied=True, parent=CallId("code"))
    )

    assert shown(stage.board.items) == [
        "Said: go",
        "code running",
        "i1 running",
        "deep running",
        "i2 running",
        "i3 denied",
        "other running",
    ]
    assert isinstance(told[0], Put)
    assert (told[0].before, stage.call("i3").parent, stage.call("code").code) == ("other", "code", "x()")


def test_the_calls_of_a_run_that_is_over_are_lost():
    stage = Theatre(*TURN, replied(call("a"), call("b")), started("a"), finished("a"), started("b"))

    stage.play(run_ended(outcome="cancelled", reason="you stopped it"))

    assert (stage.call("a").state, stage.call("b").state) == ("done", "lost")
    assert (
        stage.last.text == "cancelled: you stopped it · 1 turn · 0 tool calls · 15 tokens · $0.5000 · 7.0 s"
    )
    assert (stage.last.weight, stage.last.outcome, stage.last.run_id) == ("warning", "cancelled", RUN)


def test_the_calls_of_a_run_that_never_ended_are_lost_when_another_begins():
    stage = Theatre(*TURN, replied(call("c")), started("c"))

    stage.play(RunStarted(RunId("run-2"), "scripted/x"))

    assert (stage.call("c").state, stage.board.head.run.run_id) == ("lost", "run-2")


def test_a_call_with_an_id_that_was_there_before_is_another_item():
    stage = Theatre(*TURN, replied(call("c")), started("c"), finished("c", "one"), turn_ended())
    stage.play(TurnStarted(RUN, 2), ToolCallDelta(CallId("c"), "read_file", "{"))
    writing = stage.last
    stage.play(replied(call("c"), turn=2), started("c"), finished("c", "two"))

    calls = [item for item in stage.board.items if isinstance(item, Call)]
    assert [(item.key, item.output) for item in calls] == [("c", "one"), ("run-1.2.c", "two")]
    assert (writing.key, writing.state) == ("run-1.2.c", "writing")


def test_arguments_that_make_no_sense_are_shown_as_written():
    broken = ToolCall(CallId("c"), "bash", {}, invalid='{"command": ')
    stage = Theatre(*TURN, replied(broken))

    assert (stage.last.args, stage.last.written) == ({}, '{"command": ')


def test_output_without_end_keeps_its_ends():
    stage = Theatre(*TURN, replied(call("c", "bash")), started("c", "bash"))

    stage.play(*[ToolOutputDelta(CallId("c"), f"{n:>9}\n") for n in range(50_000)])

    output = stage.last.output
    assert len(output) <= OUTPUT_CHARS + 100
    assert output.startswith("        0\n")
    assert output.endswith("    49999\n")
    assert "characters not shown]" in output


def test_arguments_without_end_keep_their_ends():
    stage = Theatre(*TURN)

    stage.play(*[ToolCallDelta(CallId("c"), "write_file", "x" * 1_000) for _ in range(100)])
    writing = stage.last
    stage.play(replied(call("c", "write_file", path="a", content="y" * 3_000_000)))

    assert len(writing.written) <= WRITTEN_CHARS + 100
    assert len(stage.last.args["content"]) < 20_000
    assert stage.last.brief == "a"


def test_a_hole_in_the_fragments_is_shown_until_the_whole_is_there():
    stage = Theatre(*TURN)
    stage.play(TextDelta("one "), TextDelta("two"))

    told = stage.play(Lagged(7))
    stage.play(TextDelta("nine"))
    holed = stage.last.text
    stage.play(replied("one two … nine"))

    assert told == [Grow(f"{HOME}.text0", " […] ")]
    assert (holed, stage.last.text) == ("one two […] nine", "one two … nine")


# ---------------------------------------------------------------------------- notes


def test_a_run_ends_with_what_it_used():
    stage = Theatre(*TURN, replied("Hi."), turn_ended())

    stage.play(run_ended(tool_calls=2))

    assert stage.last == Note(
        key="n7",
        seq=7,
        at=7_000,
        text="done · 1 turn · 2 tool calls · 15 tokens · $0.5000 · 5.0 s",
        weight="done",
        run_id=RUN,
        outcome="completed",
    )


def test_the_time_that_nobody_drove_a_run_is_not_its_own():
    stage = Theatre(*TURN)
    stage.seq = 100
    stage.play(RunResumed(RUN, (CallId("c"),)))
    stage.play(run_ended(outcome="failed", reason="x"))

    assert shown(stage.board.items)[1:] == [
        "Note: goes on after it was cut off, without 1 call",
        "Note: failed: x · 1 turn · 0 tool calls · 15 tokens · $0.5000 · 3.0 s",
    ]


def test_a_command_of_the_user_that_went_well_needs_no_note():
    direct = RunId("direct")
    stage = Theatre(RunStarted(direct, "direct/bash"), said("ls"), TurnStarted(direct, 1))

    stage.play(replied(call("c", "bash", command="ls"), run=direct), started("c", "bash"), finished("c"))
    stage.play(run_ended(direct))

    assert shown(stage.board.items) == ["Said: ls", "c done"]


def test_text_of_others_on_a_line_cannot_steer_a_screen():
    stage = Theatre(*TURN, Retrying(RUN, 1, 1, 3, "rate_limited", "a\x1b[2J\nb\u202ec" + "x" * 5_000, 2_000))

    assert stage.last.text.startswith("retrying in 2.0 s: a\\x1b[2J b\\u202ec")
    assert "\n" not in stage.last.text
    assert len(stage.last.text) < 1_000


def test_what_only_the_engine_needs_changes_nothing():
    stage = Theatre(*TURN)

    assert stage.play(HookCompleted("guard", "turn_boundary", 3)) == []
    assert stage.board.head.seq == 5


def test_the_head_shows_the_mode_that_the_session_was_configured_with():
    stage = Theatre(*TURN)
    before = stage.board.head.mode

    stage.play(SessionConfigured(SessionOptions(mode="plan")))

    assert (before, stage.board.head.mode) == ("ask", "plan")


def test_a_sub_agent_of_nobody_is_told_of_by_notes():
    child = SessionId("child")
    stage = Theatre(ChildStarted(child, "scout", "look"), ChildEnded(child, "completed", turns=2, cost=0.25))

    assert shown(stage.board.items) == [
        "Note: scout started: look",
        "Note: scout is done · 0 ms · 2 turns · 0 tokens · $0.2500",
    ]


def test_going_back_voids_everything_unless_it_is_only_the_files():
    stage = Theatre(*TURN, run_ended())

    assert stage.play(Rewound(2, "files"))[0] == Put(stage.last)
    assert stage.last.text == "back at event 2: files only"
    assert stage.play(Rewound(2)) == [Reset()]


# ---------------------------------------------------------------------------- flashes and the head


def test_notices_flash_and_waits_are_what_is_done():
    stage = Theatre()

    idle = stage.play(Notice("starting", is_wait=True))
    stage.play(*TURN)
    warned = stage.play(Notice("careful\x1b"))
    waits = stage.play(Notice("waiting for the local model", is_wait=True))

    assert idle == [Flash("starting")]
    assert warned == [Flash("careful\\x1b", "warning")]
    assert [type(patch) for patch in waits] == [HeadChanged]
    assert stage.board.head.run.doing == "waiting for the local model"


def test_a_run_whose_end_cannot_be_recorded_is_cut_off():
    stage = Theatre(*TURN, replied(call("c")), started("c"))

    told = stage.play(Aborted(RUN, "the disk is full"))

    assert Flash("the run ended without a record: the disk is full", "failed") in told
    assert (stage.last.state, stage.board.head.state) == ("lost", "cut_off")
    assert stage.screen.head == stage.board.head


def test_a_run_that_was_looked_at_before_anybody_drove_it_is_running_once_it_moves():
    board = ViewModel(make_session_status(fold([Record(1, 1, created(), ""), Record(2, 2, TURN[0], "")])))
    early = board.head.state

    board.add(Record(3, 3, TurnStarted(RUN, 1), ""))

    assert (early, board.head.state) == ("cut_off", "running")


def test_what_is_done_is_said_when_it_changes_and_not_for_every_fragment():
    stage = Theatre()
    doing = []

    for items in (
        TURN,
        [ReasoningDelta("h")],
        [TextDelta("a")],
        [ToolCallDelta(CallId("c"), "bash", "{")],
        [replied("a", call("c", "bash", command="make test"), call("d", "grep", pattern="x"))],
        [started("c", "bash", command="make test")],
        [started("d", "grep", pattern="x")],
        [finished("c"), finished("d")],
        [turn_ended(), TurnStarted(RUN, 2), Retrying(RUN, 2, 1, 3, "rate_limited", "slow", 2_900)],
    ):
        stage.play(*items)
        doing.append(stage.board.head.run.doing)
    told = [stage.play(TextDelta("b")), stage.play(TextDelta("c"))]

    assert doing == [
        "waits for the model",
        "thinks",
        "writes",
        "writes a call",
        "waits for the model",
        "runs bash make test",
        "runs 2 calls: bash, grep",
        "waits for the model",
        "retries in 3 s",
    ]
    assert [[type(patch) for patch in patches] for patches in told] == [[Put, HeadChanged], [Grow]]


def test_the_head_of_a_run():
    asked = ApprovalRequested(CallId("c"), "bash", {}, "no rule")
    stage = Theatre(*TURN, replied("a", call("c", "bash")), started("x"), asked)
    queued = PromptQueued("item", user_message("later"))
    stage.play(queued)

    head = stage.board.head
    assert (head.state, head.approvals, [item.item_id for item in head.queue]) == (
        "waiting",
        (asked,),
        ["item"],
    )
    assert head.run is not None
    assert (head.run.turn, head.run.tokens, head.run.cost, head.run.running) == (1, 15, 0.5, ("x",))
    stage.play(finished("x"), finished("c"), turn_ended(), run_ended(reason="r", outcome="limit"))
    head = stage.board.head
    assert (head.state, head.run, head.outcome, head.reason) == ("idle", None, "limit", "r")
    assert (head.context.run, head.totals.turns, head.totals.usage) == (5, 1, USAGE)
    assert head.approvals == ()


def test_what_changed_on_disk_and_below_moves_its_number():
    stage = Theatre(FilesChanged(()), ChildStarted(SessionId("c"), "scout", "look"))

    assert (stage.board.head.files_seq, stage.board.head.children_seq) == (2, 3)


# ---------------------------------------------------------------------------- letting go


def test_old_items_can_be_let_go_of_and_had_again():
    stage = Theatre(*TURN, replied("a", call("c")), started("c"), finished("c"), turn_ended())
    stage.play(TurnStarted(RUN, 2), replied("b", call("d"), turn=2), started("d"))
    keys = [item.key for item in stage.board.items]

    stage.board.forget(keys[:2])
    cut_in_a_turn = ([item.key for item in stage.board.items], stage.board.view.before)
    stage.board.forget(keys)

    assert cut_in_a_turn == (keys[1:], 3)
    assert ([item.key for item in stage.board.items], stage.board.view.before) == (["run-1.2.text0", "d"], 8)
    stage.screen = DictScreen(stage.board.view)
    stage.play(finished("d"))
    assert stage.call("d").state == "done"


def test_a_call_that_is_at_work_is_not_let_go_of():
    stage = Theatre(*TURN, replied(call("c")), started("c"), said("and"), said("more"))

    stage.board.forget([item.key for item in stage.board.items])

    assert [item.key for item in stage.board.items] == ["c", "m7", "m8"]


def test_items_that_were_given_are_gone_on_with():
    first = Theatre(*TURN, replied(call("c")), started("c"))
    glance = make_session_status(
        fold(
            [
                Record(seq, seq * 1_000, event, "")
                for seq, event in enumerate([created(), *TURN, replied(call("c")), started("c")], 1)
            ]
        ),
        is_running=True,
    )

    board = ViewModel(glance, first.board.items, 7)
    board.add(Record(7, 7_000, finished("c"), ""))
    first.play(finished("c"))

    assert (board.items, board.view.before) == (first.board.items, 7)
    assert board.head.run == first.board.head.run


def test_fragments_that_are_ahead_of_their_turn_do_not_touch_what_is_recorded():
    stage = Theatre(*TURN, replied("one"), turn_ended())

    stage.play(TextDelta("two"))
    early = shown(stage.board.items)
    stage.play(TurnStarted(RUN, 2), TextDelta(" and"))

    assert early == ["Said: go", "Answer: one", "Answer: two"]
    assert shown(stage.board.items) == ["Said: go", "Answer: one", "Answer:  and"]


def test_a_reply_of_nothing_leaves_nothing():
    stage = Theatre(*TURN)
    empty = ModelReplied(RUN, 1, Message("assistant", (Text(""), Reasoning(""))), "end_turn", USAGE)

    assert [type(patch) for patch in stage.play(empty)] == [HeadChanged]


def test_a_call_that_was_denied_stays_so_when_the_run_is_stopped_with_it():
    stage = Theatre(*TURN, replied(call("x", "bash")))
    stage.play(ApprovalRequested(CallId("x"), "bash", {}, "mode ask"))
    stage.play(ApprovalDecided(CallId("x"), "stop", "not this"))

    stage.play(finished("x", "not run: the run ended (denied)", "bash", is_error=True))

    assert (stage.call("x").state, stage.call("x").why) == ("denied", "not this")


def test_a_queued_prompt_that_could_not_begin_is_told_without_talk_of_a_run():
    told = Theatre().play(Aborted(RunId(""), "the queued prompt could not start: no model"))

    assert told == [Flash("the queued prompt could not start: no model", "failed")]
