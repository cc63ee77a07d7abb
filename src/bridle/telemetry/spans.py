"""Spans of runs: each is created when its work is finished, with ids that are the same in every process.

```
invoke_agent coder                      the run; a child of the span in the run's `trace`, if any
├── chat claude-x                       one for each request to the model
├── wait_for_answer bash                while the run waits for a person
├── execute_tool python
│   └── execute_tool read_file          a call made by code
└── execute_tool agent_spawn
    └── invoke_agent reviewer           the run of a sub-agent, in its own session
```
"""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.json import encode
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall
from bridle.core.trace import Trace, make_span_id
from bridle.telemetry.attributes import (
    AGENT,
    ANSWER,
    CONVERSATION,
    COST,
    ERROR,
    FINISH_REASONS,
    INPUT_MESSAGES,
    OPERATION,
    OUTCOME,
    OUTPUT_MESSAGES,
    PROVIDER,
    REQUEST_MODEL,
    REQUEST_STREAM,
    RUN_ID,
    TOOL,
    TOOL_ARGUMENTS,
    TOOL_CALL,
    TOOL_CALLS,
    TOOL_RESULT,
    TOOL_TYPE,
    TURN,
    TURNS,
    Attributes,
    finish_reasons,
    provider_and_model,
    tool_type,
    usage_attributes,
)
from bridle.telemetry.facts import (
    Activity,
    ExtraUsage,
    Fact,
    FinishedRun,
    ModelCall,
    StartedRun,
    ToolUse,
    TrackedRun,
    UserWait,
)
from bridle.telemetry.run_tracker import CANCELLED

# ---------------------------------------------------------------------------- content
# Message content for traces, if enabled: secrets masked, long text cut.


MAX_TEXT_CHARS = 8_192
MAX_PARTS = 64
_CUT = "…"


class Content:
    """Returns messages, arguments and results as span attributes."""

    def __init__(self, mask: Callable[[str], str]) -> None:
        self._mask = mask

    def of_run(self, over: FinishedRun) -> Attributes:
        """Return the prompt and the final text of a run."""
        return {
            INPUT_MESSAGES: self._messages("user", [self._text(over.run.prompt)]),
            OUTPUT_MESSAGES: self._messages("assistant", [self._text(over.end.text)]),
        }

    def of_call(self, call: ModelCall) -> Attributes:
        """Return the reply of a model; empty if there was none."""
        if call.message is None or call.stop_reason is None:
            return {}
        parts = list(self._parts(call.message))[:MAX_PARTS]
        [reason] = finish_reasons(call.stop_reason)
        return {OUTPUT_MESSAGES: self._messages("assistant", parts, finish_reason=reason)}

    def of_tool(self, use: ToolUse) -> Attributes:
        """Return the arguments and the result of a tool call."""
        args = encode(use.args or {}).decode()
        return {TOOL_ARGUMENTS: self._cut(args), TOOL_RESULT: self._cut(use.output)}

    def _parts(self, message: Message) -> Iterator[dict[str, Any]]:
        for part in message.parts:
            match part:
                case Text():
                    yield self._text(part.text)
                case Reasoning():
                    yield {"type": "reasoning", "content": self._cut(part.text)}
                case ToolCall():
                    args = self._cut(encode(part.args).decode())
                    yield {"type": "tool_call", "id": part.id, "name": part.name, "arguments": args}
                case _:
                    pass

    def _text(self, text: str) -> dict[str, Any]:
        return {"type": "text", "content": self._cut(text)}

    def _messages(self, role: str, parts: list[dict[str, Any]], **more: str) -> str:
        return encode([{"role": role, "parts": parts, **more}]).decode()

    def _cut(self, text: str) -> str:
        # Mask before cutting, or half of a secret could remain.
        masked = self._mask(text)
        return masked if len(masked) <= MAX_TEXT_CHARS else masked[:MAX_TEXT_CHARS] + _CUT


# ---------------------------------------------------------------------------- spans


SCOPE = "bridle"
NS_PER_MS = 1_000_000


class PresetIds(IdGenerator):
    """Returns the ids that were set last."""

    def __init__(self) -> None:
        self.trace_id = 0
        self.span_id = 0

    def generate_trace_id(self) -> int:
        """Return the trace id that was set."""
        return self.trace_id

    def generate_span_id(self) -> int:
        """Return the span id that was set."""
        return self.span_id


class SpanExporter:
    """Creates spans from facts."""

    def __init__(
        self, provider: TracerProvider, ids: PresetIds, version: str, content: Content | None
    ) -> None:
        """Use a provider whose id generator is `ids`; without `content`, spans contain no message text."""
        self._sampler = provider.sampler
        self._tracer = provider.get_tracer(SCOPE, version)
        self._ids = ids
        self._content = content

    def place(self, run: TrackedRun, call_id: CallId | None) -> Trace:
        """Return the trace context of a run, or of one of its calls."""
        span_id = run.span if call_id is None else _tool_span(run, call_id)
        return Trace(run.trace.trace_id, span_id, self._is_sampled(run))

    def tell(self, fact: Fact) -> None:
        """Create the span of a fact, if it has one."""
        match fact:
            case FinishedRun():
                self._export_run(fact)
            case ModelCall():
                self._export_call(fact)
            case ToolUse() if fact.args is not None:
                self._tell_tool(fact)
            case UserWait():
                attributes: Attributes = {TOOL: fact.tool, TOOL_CALL: fact.call_id}
                if fact.answer:
                    attributes[ANSWER] = fact.answer
                self._make(fact, f"wait {fact.call_id}", f"wait_for_answer {fact.tool}".strip(), attributes)
            case ToolUse() | StartedRun() | ExtraUsage():
                pass

    def _export_run(self, over: FinishedRun) -> None:
        run, end = over.run, over.end
        attributes = {
            **_common("invoke_agent", run, run.model),
            RUN_ID: run.id,
            OUTCOME: end.outcome,
            TURNS: end.turns,
            TOOL_CALLS: end.tool_calls,
            **usage_attributes(end.usage),
        }
        if end.cost is not None:
            attributes[COST] = end.cost
        if self._content is not None:
            attributes |= self._content.of_run(over)
        above = run.trace
        parent = (
            _context(above.trace_id, above.span_id, sampled=bool(above.sampled)) if above.span_id else None
        )
        name = f"invoke_agent {run.agent}".strip()
        self._start_and_end(over, run.span, name, attributes, SpanKind.INTERNAL, parent or Context())

    def _export_call(self, call: ModelCall) -> None:
        run = call.run
        attributes = {**_common("chat", run, call.model), REQUEST_STREAM: True, TURN: run.turn}
        if call.stop_reason is not None:
            attributes[FINISH_REASONS] = finish_reasons(call.stop_reason)
        if call.usage is not None:
            attributes |= usage_attributes(call.usage)
        if call.cost is not None:
            attributes[COST] = call.cost
        if self._content is not None:
            attributes |= self._content.of_call(call)
        _, model = provider_and_model(call.model)
        self._make(call, call.name, f"chat {model}".strip(), attributes, SpanKind.CLIENT)

    def _tell_tool(self, use: ToolUse) -> None:
        attributes: Attributes = {
            OPERATION: "execute_tool",
            TOOL: use.tool,
            TOOL_CALL: use.call_id,
            TOOL_TYPE: tool_type(use.tool),
            CONVERSATION: use.run.session,
            AGENT: use.run.agent,
        }
        if self._content is not None:
            attributes |= self._content.of_tool(use)
        above = use.run.span if use.parent is None else _tool_span(use.run, use.parent)
        self._make(use, f"tool {use.call_id}", f"execute_tool {use.tool}", attributes, above=above)

    def _make(
        self,
        work: Activity,
        what: str,
        name: str,
        attributes: Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        above: int = 0,
    ) -> None:
        run = work.run
        parent = _context(run.trace.trace_id, above or run.span, sampled=self._is_sampled(run))
        self._start_and_end(work, make_span_id(run.id, what), name, attributes, kind, parent)

    def _start_and_end(
        self, work: Activity, span_id: int, name: str, attributes: Attributes, kind: SpanKind, parent: Context
    ) -> None:
        self._ids.trace_id, self._ids.span_id = work.run.trace.trace_id, span_id
        if work.error:
            attributes = {**attributes, ERROR: work.error}
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=work.began * NS_PER_MS)
        if work.error and work.error != CANCELLED:
            span.set_status(Status(StatusCode.ERROR))
        span.end(work.ended * NS_PER_MS)

    def _is_sampled(self, run: TrackedRun) -> bool:
        """Return True if a run is sampled; every process decides the same, from the same trace."""
        if run.is_sampled is None:
            above = run.trace
            parent = _context(above.trace_id, above.span_id, sampled=bool(above.sampled))
            asked = self._sampler.should_sample(
                parent if above.span_id else None, above.trace_id, f"invoke_agent {run.agent}".strip()
            )
            run.is_sampled = asked.decision is Decision.RECORD_AND_SAMPLE
        return run.is_sampled


def _common(operation: str, run: TrackedRun, ref: str) -> Attributes:
    provider, model = provider_and_model(ref)
    return {
        OPERATION: operation,
        PROVIDER: provider,
        REQUEST_MODEL: model,
        CONVERSATION: run.session,
        AGENT: run.agent,
    }


def _tool_span(run: TrackedRun, call_id: CallId) -> int:
    return make_span_id(run.id, f"tool {call_id}")


def _context(trace_id: int, span_id: int, *, sampled: bool) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
    return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, True, flags)), Context())
