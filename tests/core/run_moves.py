"""Everything that can happen to a run: on its own, through answers of people, and through interruptions."""

from collections.abc import Callable, Iterable, Iterator

from bridle.core.ids import CallId
from bridle.core.loop import (
    BackoffEnded,
    Called,
    CancelRequested,
    Decided,
    Drained,
    Input,
    ModelFailed,
    Prepared,
    Refused,
    Replied,
    Returned,
    Settled,
)
from bridle.core.messages import ToolCall, Usage, user_message
from bridle.core.protocol import (
    Answer,
    ApprovalDecided,
    ApprovalRequested,
    Compacted,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    PromptQueued,
    Question,
    QuestionAnswered,
    QuestionAsked,
    ToolFinished,
)
from tests.core.run_world import BUSY, RUN, World, parent_of, reply_of, result_of

GONE = ModelFailed("invalid_api_key", "no such key")
BAD = ModelFailed("invalid_request", "no")

Move = tuple[str, Callable[[World], None]]


def moves_of(world: World) -> Iterator[Move]:
    """Yield all that can happen by itself or by a person who was asked."""
    for kind, call in sorted(world.todo):
        yield from _MOVES[kind](world, CallId(call))
    if world.loop.state == "waiting_for_ops":
        for asked in world.run.pending:
            for answer in world.bounds.answers:
                yield f"{answer} {asked.call_id}", _decide(asked.call_id, answer)
        for call in world.run.questions:
            yield f"answer {call}", lambda w, call=call: w.stage(QuestionAnswered(call, ("yes",)))


def interruptions_of(world: World) -> Iterator[Move]:
    """Yield what may come at any moment, and without which a run must come to its end, too."""
    left = world.left
    if left["cancels"]:
        yield "cancel", _then("cancels", lambda w: w.feed(CancelRequested()))
    if left["cuts"]:
        yield "cut", _then("cuts", World.cut)
    if left["steers"]:
        queued = PromptQueued("steered", user_message("no"), delivery="steer")
        yield "steer", _then("steers", lambda w: w.stage(queued))
    if left["queued"]:
        later = PromptQueued("later", user_message("and"), delivery="queue")
        yield "queue", _then("queued", lambda w: w.stage(later))


def _then(name: str, work: Callable[[World], None]) -> Callable[[World], None]:
    def go(world: World) -> None:
        world.use(name)
        work(world)

    return go


def _model(world: World, _: CallId) -> Iterator[Move]:
    for count in range(world.bounds.calls + 1):
        yield f"reply with {count}", lambda w, count=count: _reply(w, count)
    if world.bounds.retries or world.bounds.fallbacks:
        yield "busy", _ending("model", lambda w: w.feed(BUSY))
        yield "gone", _ending("model", lambda w: w.feed(GONE))
    if world.left["overflows"]:
        compacted = Compacted(user_message("summary"), 1, 1, 2, 2, 2, 2)
        yield "overflow", _then("overflows", lambda w: w.stage(compacted))
    if world.left["stops"]:
        stop = Refused("budget_exhausted", "spent")
        yield "refuse", _then("stops", _ending("model", lambda w: w.feed(stop)))
        yield "bad", _then("stops", _ending("model", lambda w: w.feed(BAD)))


def _reply(world: World, count: int) -> None:
    world.end("model")
    message = reply_of(world.loop.turn, count)
    world.stage(ModelReplied(RUN, world.loop.turn, message, "tool_use", Usage()))
    world.feed(Replied(message))


def _ending(kind: str, work: Callable[[World], None]) -> Callable[[World], None]:
    def go(world: World) -> None:
        world.end(kind)
        work(world)

    return go


def _wait(world: World, _: CallId) -> Iterator[Move]:
    yield "waited", _ending("wait", lambda w: w.feed(BackoffEnded()))


def _switch(world: World, _: CallId) -> Iterator[Move]:
    def found(w: World) -> None:
        w.stage(ModelSwitched(RUN, w.loop.turn, "m/y", "busy"))
        w.feed(BackoffEnded())

    yield "switched", _ending("switch", found)
    yield "no other model", _ending("switch", lambda w: w.feed(GONE))


def _judge(world: World, call: CallId) -> Iterator[Move]:
    def judge(verdict: str) -> Callable[[World], None]:
        def go(w: World) -> None:
            w.end("judge", call)
            w.parallel = w.parallel | {call} if verdict == "parallel" else w.parallel - {call}
            if verdict == "refused":
                w.feed(*w.refuse(call))
            elif verdict == "ask":
                w.stage(ApprovalRequested(call, "t", {}, "why", parent=parent_of(call)))
                w.feed(Prepared(call, "ask"))
            elif verdict == "decided":
                w.feed(Prepared(call, "ask"), Decided(call, w.run.decided[call].answer))
            else:
                w.feed(Prepared(call, "allow", parallel=verdict == "parallel"))

        return go

    verdicts: Iterable[str] = world.bounds.verdicts
    if call in world.run.decided:
        verdicts = ("decided",)
    elif call in world.run.started:
        verdicts = ("parallel",)  # it only reads, and does so again
    elif world.session.known.granted or call in world.run.requested:
        verdicts = [
            verdict for verdict in verdicts if verdict == ("alone" if world.session.known.granted else "ask")
        ]
    for verdict in verdicts:
        yield f"{verdict} {call}", judge(verdict)


def _decide(call: CallId, answer: Answer) -> Callable[[World], None]:
    def go(world: World) -> None:
        rules = ("t",) if answer == "session" else ()
        world.stage(ApprovalDecided(call, answer, rules=rules))
        inputs: list[Input] = [Decided(call, answer)]
        for asked in world.run.pending if rules else ():
            world.stage(ApprovalDecided(asked.call_id, "once"))
            inputs.append(Decided(asked.call_id, "once"))
        world.feed(*inputs)

    return go


def _tool(world: World, call: CallId) -> Iterator[Move]:
    def return_(*, is_error: bool) -> Callable[[World], None]:
        def go(w: World) -> None:
            w.end("tool", call)
            w.stage(ToolFinished(result_of(call, is_error=is_error), parent=parent_of(call)))
            w.feed(Returned(result_of(call, is_error=is_error)))

        return go

    if call in world.run.questions or any(entry.parent == call for entry in world.loop._calls.values()):
        return
    yield f"done {call}", return_(is_error=False)
    yield f"failed {call}", return_(is_error=True)
    if world.left["questions"]:
        question = QuestionAsked(call, Question("which?"))
        yield f"asks {call}", _then("questions", lambda w: w.stage(question))
    if world.left["nested"] and parent_of(call) is None:
        made = ToolCall(CallId(f"{call}.1"), "t")
        yield f"calls {made.id}", _then("nested", lambda w: w.feed(Called(made, call)))
    if world.left["children"] and parent_of(call) is None:
        yield f"spawns {call}", _then("children", lambda w: w.begin("child", "child"))


def _late(world: World, call: CallId) -> Iterator[Move]:
    def go(w: World) -> None:
        w.end("late", call)
        w.stage(ToolFinished(result_of(call), parent=parent_of(call)))
        w.feed(Returned(result_of(call)))

    yield f"done late {call}", go


def _child(world: World, call: CallId) -> Iterator[Move]:
    def go(w: World) -> None:
        w.end("child", call)
        w.stage(PromptQueued("child", user_message("found"), delivery="steer"))

    yield "child ends", go


def _drain(world: World, _: CallId) -> Iterator[Move]:
    waiting = [item for item in world.session.known.queue if item.delivery == "steer"]
    has_calls = world.run.replied is not None and bool(world.run.replied.message.calls)

    def go(w: World) -> None:
        for item in waiting:
            w.stage(MessageAdded(item.message, "steer", item_id=item.item_id))
        w.feed(Drained(more=bool(waiting)))

    if waiting or has_calls or ("child", "child") not in world.todo:
        yield "drained", _ending("drain", go)
    if world.left["stops"]:
        stop = Drained(stop=Refused("budget_exhausted", "spent"))
        yield "drained, spent", _then("stops", _ending("drain", lambda w: w.feed(stop)))


def _settle(world: World, _: CallId) -> Iterator[Move]:
    yield "settled", _ending("settle", lambda w: w.feed(Settled()))


_MOVES: dict[str, Callable[[World, CallId], Iterator[Move]]] = {
    "model": _model,
    "wait": _wait,
    "switch": _switch,
    "judge": _judge,
    "tool": _tool,
    "late": _late,
    "child": _child,
    "drain": _drain,
    "settle": _settle,
}
