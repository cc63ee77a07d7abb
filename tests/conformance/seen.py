"""What a client sees of a run, in one form for every surface.

Each surface reduces what its own wire shows to these lines. Calls run beside each other, so the lines of one
call are compared with each other (a lane), and what belongs to no call is a separate lane.
"""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    ChildEnded,
    ChildStarted,
    Compacted,
    Delta,
    Event,
    MessageAdded,
    ModelReplied,
    PromptQueued,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    Record,
    Retrying,
    RunEnded,
    RunResumed,
    RunStarted,
    TextDelta,
    ToolFinished,
    ToolStarted,
)


class Seen(NamedTuple):
    """One thing that a client was shown."""

    kind: str
    what: str = ""
    call: str = ""


Lanes = dict[str, list[Seen]]


def began() -> Seen:
    return Seen("began")


def said(text: str) -> Seen:
    return Seen("said", text)


def thought(text: str) -> Seen:
    return Seen("thought", text)


def called(call: str, tool: str, **args: Any) -> Seen:
    return Seen("called", f"{tool} {json.dumps(args, sort_keys=True)}", call)


def asked(call: str) -> Seen:
    return Seen("asked", "", call)


def decided(call: str, answer: str) -> Seen:
    return Seen("decided", answer, call)


def started(call: str) -> Seen:
    return Seen("started", "", call)


def finished(call: str, output: str, *, is_error: bool = False) -> Seen:
    return Seen("failed" if is_error else "finished", output, call)


def ended(outcome: str, text: str = "") -> Seen:
    """Make the line of a run's end; the text counts where it is the whole answer."""
    return Seen("ended", f"{outcome}: {text}" if outcome == "completed" else outcome)


def lanes(lines: Iterable[Seen], kinds: Collection[str]) -> Lanes:
    """Sort what was seen by the calls it is about, and leave out kinds that are not in question."""
    sorted_out: Lanes = {}
    for line in lines:
        if line.kind in kinds:
            sorted_out.setdefault(line.call, []).append(line)
    return sorted_out


KINDS = frozenset(
    "began said thought called asked decided question answered started finished failed steered retried "
    "compacted spawned returned exhausted resumed ended".split()
)


class Reducer:
    """Reduces records and deltas, as our own wires carry them."""

    def __init__(self) -> None:
        self._text = ""
        self._reasoning = ""

    def feed(self, item: Record | Delta) -> list[Seen]:
        """Return what an item shows; `streams`, `steers` and `queues` only say when to move."""
        match item:
            case TextDelta():
                self._text += item.text
                return [Seen("streams", self._text)]
            case ReasoningDelta():
                self._reasoning += item.text
            case Record():
                return self._event(item.event)
            case _:
                pass
        return []

    def _event(self, event: Event) -> list[Seen]:
        match event:
            case RunStarted():
                return [began()]
            case ModelReplied():
                return self._reply(event)
            case Retrying():
                self._text = self._reasoning = ""  # what was said is void
                return [Seen("retried", str(event.attempt))]
            case PromptQueued():
                return [Seen(f"{event.delivery}s", event.message.text)]
            case MessageAdded(source="steer"):
                return [Seen("steered", event.message.text)]
            case RunEnded():
                return [*self._flush("", ""), ended(event.outcome, event.text)]
            case ChildStarted():
                return [Seen("spawned", event.name)]
            case ChildEnded():
                return [Seen("returned", event.outcome)]
            case Compacted():
                return [Seen("compacted", event.summary)]
            case BudgetExhausted():
                return [Seen("exhausted", event.kind)]
            case RunResumed():
                return [Seen("resumed")]
            case _:
                return list(_of_call(event))

    def _reply(self, event: ModelReplied) -> list[Seen]:
        message = event.message
        return [*self._flush(message.text, message.reasoning), *map(_called, message.calls)]

    def _flush(self, text: str, reasoning: str) -> list[Seen]:
        """Return what was streamed, or else what is stored."""
        text, reasoning = self._text or text, self._reasoning or reasoning
        self._text = self._reasoning = ""
        return [*([thought(reasoning)] if reasoning else []), *([said(text)] if text else [])]


def _of_call(event: Event) -> Sequence[Seen]:
    match event:
        case ApprovalRequested():
            return [asked(event.call_id)]
        case ApprovalDecided():
            return [decided(event.call_id, event.answer)]
        case QuestionAsked():
            return [Seen("question", event.question.text, event.call_id)]
        case QuestionAnswered():
            return [Seen("answered", ", ".join(event.answers), event.call_id)]
        case ToolStarted() if event.parent is not None:  # of code: no reply has asked for it
            return [called(event.call_id, event.tool, **event.args), started(event.call_id)]
        case ToolStarted():
            return [started(event.call_id)]
        case ToolFinished():
            return [_finished(event.result)]
        case _:
            return []


def _called(call: ToolCall) -> Seen:
    return called(call.id, call.name, **call.args)


def _finished(result: ToolResult) -> Seen:
    return finished(result.call_id, result.output, is_error=result.is_error)


def reduce(items: Iterable[Record | Delta]) -> list[Seen]:
    """Reduce a whole stream."""
    reducer = Reducer()
    return [line for item in items for line in reducer.feed(item)]
