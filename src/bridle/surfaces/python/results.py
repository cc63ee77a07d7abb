"""The result of a run, and the errors for a run that did not complete.

```
BridleError
└── RunError          `result` is the result of the run
    ├── RunFailed     the model or the engine failed
    ├── RunDenied     a person, a rule or a hook denied something, and the run stopped
    ├── RunLimited    a limit or the budget is used up; `result.text` may be a partial answer
    └── RunCancelled  the run was cancelled
```
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from bridle.core.errors import BridleError, ProviderErrorKind
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import Outcome
from bridle.surfaces.shared.output_format import DeniedCall, Result
from bridle.typed import value_as

ValueT = TypeVar("ValueT", covariant=True)


class RunResult(Struct, Generic[ValueT], frozen=True):
    """The result of a run.

    ```python
    result = await session.run("what does the invoice say", output=Invoice)
    result.value.total
    ```
    """

    value: ValueT
    """The value of the requested type; None if none was requested or none was given."""
    wire: Result
    """The full result, as every surface reports it."""

    @property
    def text(self) -> str:
        """The model's last text."""
        return self.wire.text

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return self.wire.outcome

    @property
    def completed(self) -> bool:
        """True if the run completed."""
        return self.wire.outcome == "completed"

    @property
    def reason(self) -> str:
        """Why, for every outcome but "completed"."""
        return self.wire.reason

    @property
    def usage(self) -> Usage:
        """The tokens used."""
        return Usage(**self.wire.usage)

    @property
    def cost(self) -> float | None:
        """Dollars, or None if a price is unknown."""
        return self.wire.cost

    @property
    def turns(self) -> int:
        """The number of model requests."""
        return self.wire.turns

    @property
    def tool_calls(self) -> int:
        """The number of tool calls."""
        return self.wire.tool_calls

    @property
    def denied(self) -> Sequence[DeniedCall]:
        """The denied calls, each with the rules that would allow it."""
        return self.wire.denied

    @property
    def error(self) -> ProviderErrorKind | None:
        """The kind of model failure that ended the run, if one did."""
        return self.wire.error

    @property
    def session_id(self) -> SessionId:
        """The id of the run's session."""
        return self.wire.session_id

    @property
    def run_id(self) -> RunId:
        """The id of the run."""
        return self.wire.run_id

    def __str__(self) -> str:
        return self.text


class RunError(BridleError):
    """A run did not complete; `result` is its result."""

    def __init__(self, result: RunResult[Any]) -> None:
        reason, _, hint = result.reason.partition(" (hint: ")
        denied = "; ".join(f"{call.tool}: {call.reason}" for call in result.denied)
        rules = ", ".join(f'"{rule}"' for call in result.denied for rule in call.rules)
        said = denied if result.outcome == "denied" and denied else reason
        if result.outcome == "denied" and rules and not hint:
            hint = f"to allow it: allow=[{rules}]"
        super().__init__(said or f"the run ended: {result.outcome}", hint=hint.removesuffix(")"))
        self.result = result


class RunFailed(RunError):
    """The model or the engine failed."""


class RunDenied(RunError):
    """Something that the run needed was denied."""


class RunLimited(RunError):
    """A limit or the budget is used up."""


class RunCancelled(RunError):
    """The run was cancelled."""


_ERRORS: dict[Outcome, type[RunError]] = {
    "failed": RunFailed,
    "denied": RunDenied,
    "limit": RunLimited,
    "budget_exhausted": RunLimited,
    "cancelled": RunCancelled,
}


def to_error(result: RunResult[Any]) -> RunError | None:
    """Return the error for a result; None for a run that completed."""
    kind = _ERRORS.get(result.outcome)
    return None if kind is None else kind(result)


def read_value(output: Any, result: Result) -> Any:
    """Return the value of the type that a run was asked for; None if there is none."""
    if output is None or result.structured_output is None:
        return None
    return (
        result.structured_output if isinstance(output, dict) else value_as(output, result.structured_output)
    )
