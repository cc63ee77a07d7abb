"""Spans of runs: each is made when its work is over, with ids that every process would give it.

```
invoke_agent coder                      the run; below what the run's `trace` names, if anything
├── chat claude-x                       one for each try to reach the model
├── wait_for_answer bash                while a person was asked
├── execute_tool python
│   └── execute_tool read_file          a call that code made
└── execute_tool agent_spawn
    └── invoke_agent reviewer           the run of a sub-agent, in a session of its own
```
"""

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
from bridle.core.trace import Trace, span_of
from bridle.telemetry.content import Content
from bridle.telemetry.facts import Fact, ModelCall, Run, RunBegun, RunOver, Spent, ToolUse, Wait, Work
from bridle.telemetry.runs import CANCELLED
from bridle.telemetry.words import (
    AGENT,
    ANSWER,
    CONVERSATION,
    COST,
    ERROR,
    FINISH_REASONS,
    OPERATION,
    OUTCOME,
    PROVIDER,
    REQUEST_MODEL,
    REQUEST_STREAM,
    RUN_ID,
    TOOL,
    TOOL_CALL,
    TOOL_CALLS,
    TOOL_TYPE,
    TURN,
    TURNS,
    Attributes,
    finish_reasons,
    provider_and_model,
    tool_type,
    usage_attributes,
)

SCOPE = "bridle"
NS_PER_MS = 1_000_000


class GivenIds(IdGenerator):
    """Hands out the ids that were put in."""

    def __init__(self) -> None:
        self.trace_id = 0
        self.span_id = 0

    def generate_trace_id(self) -> int:
        """Return the trace that was put in."""
        return self.trace_id

    def generate_span_id(self) -> int:
        """Return the span that was put in."""
        return self.span_id


class Spans:
    """Makes spans of what was done."""

    def __init__(
        self, provider: TracerProvider, ids: GivenIds, version: str, content: Content | None
    ) -> None:
        """Take a provider that has these ids; `content` is there if what was said is to be told."""
        self._sampler = provider.sampler
        self._tracer = provider.get_tracer(SCOPE, version)
        self._ids = ids
        self._content = content

    def place(self, run: Run, call_id: CallId | None) -> Trace:
        """Return where in its trace a run is, or a call of it."""
        span_id = run.span if call_id is None else _tool_span(run, call_id)
        return Trace(run.trace.trace_id, span_id, self._is_sampled(run))

    def tell(self, fact: Fact) -> None:
        """Make the span of a piece of work."""
        match fact:
            case RunOver():
                self._tell_run(fact)
            case ModelCall():
                self._tell_call(fact)
            case ToolUse() if fact.args is not None:
                self._tell_tool(fact)
            case Wait():
                attributes: Attributes = {TOOL: fact.tool, TOOL_CALL: fact.call_id}
                if fact.answer:
                    attributes[ANSWER] = fact.answer
                self._make(fact, f"wait {fact.call_id}", f"wait_for_answer {fact.tool}".strip(), attributes)
            case ToolUse() | RunBegun() | Spent():
                pass

    def _tell_run(self, over: RunOver) -> None:
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

    def _tell_call(self, call: ModelCall) -> None:
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
        work: Work,
        what: str,
        name: str,
        attributes: Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
        *,
        above: int = 0,
    ) -> None:
        run = work.run
        parent = _context(run.trace.trace_id, above or run.span, sampled=self._is_sampled(run))
        self._start_and_end(work, span_of(run.id, what), name, attributes, kind, parent)

    def _start_and_end(
        self, work: Work, span_id: int, name: str, attributes: Attributes, kind: SpanKind, parent: Context
    ) -> None:
        self._ids.trace_id, self._ids.span_id = work.run.trace.trace_id, span_id
        if work.error:
            attributes = {**attributes, ERROR: work.error}
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=work.began * NS_PER_MS)
        if work.error and work.error != CANCELLED:
            span.set_status(Status(StatusCode.ERROR))
        span.end(work.ended * NS_PER_MS)

    def _is_sampled(self, run: Run) -> bool:
        """Tell whether a run is kept; every process finds the same, as its trace is the same."""
        if run.is_sampled is None:
            above = run.trace
            parent = _context(above.trace_id, above.span_id, sampled=bool(above.sampled))
            asked = self._sampler.should_sample(
                parent if above.span_id else None, above.trace_id, f"invoke_agent {run.agent}".strip()
            )
            run.is_sampled = asked.decision is Decision.RECORD_AND_SAMPLE
        return run.is_sampled


def _common(operation: str, run: Run, ref: str) -> Attributes:
    provider, model = provider_and_model(ref)
    return {
        OPERATION: operation,
        PROVIDER: provider,
        REQUEST_MODEL: model,
        CONVERSATION: run.session,
        AGENT: run.agent,
    }


def _tool_span(run: Run, call_id: CallId) -> int:
    return span_of(run.id, f"tool {call_id}")


def _context(trace_id: int, span_id: int, *, sampled: bool) -> Context:
    flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
    return set_span_in_context(NonRecordingSpan(SpanContext(trace_id, span_id, True, flags)), Context())
