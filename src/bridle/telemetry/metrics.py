"""Metrics of runs: those of the GenAI conventions, and some of Bridle's own."""

from collections.abc import Callable, Iterable, Mapping

from opentelemetry.metrics import CallbackOptions, Meter, Observation

from bridle.core.messages import Usage
from bridle.telemetry.attributes import (
    AGENT,
    ANSWER,
    ERROR,
    OPERATION,
    OUTCOME,
    PROVIDER,
    REQUEST_MODEL,
    TOKEN_TYPE,
    TOOL,
    TOOL_TYPE,
    Attributes,
    NameLimit,
    input_tokens,
    provider_and_model,
    tool_type,
)
from bridle.telemetry.facts import (
    Activity,
    ExtraUsage,
    Fact,
    FinishedRun,
    ModelCall,
    StartedRun,
    ToolUse,
    UserWait,
)

TOKEN_BOUNDS = tuple(float(4**power) for power in range(14))  # the conventions define these and the next two
CALL_BOUNDS_S = tuple(0.01 * 2**power for power in range(14))
RUN_BOUNDS_S = tuple(0.1 * 2**power for power in range(13))
WAIT_BOUNDS_S = (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0)
APPEND_BOUNDS_S = tuple(0.0005 * 2**power for power in range(14))
TURN_BOUNDS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


class Metrics:
    """Records facts as metrics."""

    def __init__(self, meter: Meter) -> None:
        self._tools, self._models, self._agents = NameLimit(), NameLimit(), NameLimit()
        self.live: Mapping[str, int] = {}
        """The number of sessions in memory, by state."""

        def histogram(name: str, unit: str, about: str, bounds: Iterable[float]) -> Callable[..., None]:
            return meter.create_histogram(
                name, unit, about, explicit_bucket_boundaries_advisory=list(bounds)
            ).record

        self._tokens = histogram(
            "gen_ai.client.token.usage", "{token}", "Number of input and output tokens used", TOKEN_BOUNDS
        )
        self._call_s = histogram(
            "gen_ai.client.operation.duration", "s", "GenAI operation duration", CALL_BOUNDS_S
        )
        self._run_s = histogram(
            "gen_ai.invoke_agent.duration", "s", "Duration of a run, from its prompt to its end", RUN_BOUNDS_S
        )
        self._tool_s = histogram(
            "gen_ai.execute_tool.duration", "s", "Duration of a single tool execution", CALL_BOUNDS_S
        )
        self._turns = histogram("bridle.run.turns", "{turn}", "Turns of a run", TURN_BOUNDS)
        self._wait_s = histogram(
            "bridle.wait.duration", "s", "How long a person took to answer", WAIT_BOUNDS_S
        )
        self._append_s = histogram(
            "bridle.store.append.duration", "s", "How long the store took to keep a step", APPEND_BOUNDS_S
        )
        self._lag_s = histogram(
            "bridle.event_loop.lag", "s", "How late the event loop came to a timer", APPEND_BOUNDS_S
        )
        self._started = meter.create_counter("bridle.runs.started", "{run}", "Runs that began here").add
        self._ended = meter.create_counter("bridle.runs.ended", "{run}", "Runs that ended here").add
        self._calls = meter.create_counter("bridle.tool.calls", "{call}", "Calls of tools").add
        self._cost = meter.create_counter("bridle.cost", "USD", "What models have cost, where known").add
        meter.create_observable_gauge(
            "bridle.sessions", [self._observe], "{session}", "Sessions in memory, by what they do"
        )

    def appended(self, seconds: float) -> None:
        """Record the duration of one append to the store."""
        self._append_s(seconds)

    def record_lag(self, seconds: float) -> None:
        """Record how late the event loop ran a timer."""
        self._lag_s(seconds)

    def tell(self, fact: Fact) -> None:
        """Record a fact."""
        match fact:
            case StartedRun():
                self._started(1, {AGENT: self._agents.of(fact.run.agent)})
            case FinishedRun():
                agent = {AGENT: self._agents.of(fact.run.agent)}
                self._ended(1, {**agent, OUTCOME: fact.end.outcome})
                self._run_s(_seconds(fact), {**agent, **_error(fact)})
                self._turns(fact.end.turns, agent)
            case ModelCall():
                about = self._about(fact.model)
                self._call_s(_seconds(fact), {**about, **_error(fact)})
                if fact.usage is not None:
                    self._spend(about, fact.usage, fact.cost)
            case ExtraUsage():
                self._spend(self._about(fact.model), fact.usage, fact.cost)
            case ToolUse():
                self._tell_tool(fact)
            case UserWait():
                about = {TOOL: self._tools.of(fact.tool)}
                self._wait_s(_seconds(fact), {**about, ANSWER: fact.answer} if fact.answer else about)

    def _tell_tool(self, use: ToolUse) -> None:
        tool = self._tools.of(use.tool)
        self._calls(1, {TOOL: tool, "bridle.tool.outcome": use.error or "ok"})
        if use.args is not None:
            about = {TOOL: tool, TOOL_TYPE: tool_type(use.tool), AGENT: self._agents.of(use.run.agent)}
            self._tool_s(_seconds(use), {**about, **_error(use)})

    def _about(self, ref: str) -> Attributes:
        provider, model = provider_and_model(self._models.of(ref))
        return {OPERATION: "chat", PROVIDER: provider, REQUEST_MODEL: model}

    def _spend(self, about: Attributes, usage: Usage, cost: float | None) -> None:
        self._tokens(input_tokens(usage), {**about, TOKEN_TYPE: "input"})
        self._tokens(usage.output, {**about, TOKEN_TYPE: "output"})
        if cost:
            self._cost(cost, {PROVIDER: about[PROVIDER], REQUEST_MODEL: about[REQUEST_MODEL]})

    def _observe(self, options: CallbackOptions) -> Iterable[Observation]:
        return [Observation(count, {"bridle.session.state": state}) for state, count in self.live.items()]


def _seconds(work: Activity) -> float:
    return (work.ended - work.began) / 1000


def _error(work: Activity) -> Attributes:
    return {ERROR: work.error} if work.error else {}
