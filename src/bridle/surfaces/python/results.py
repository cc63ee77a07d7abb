"""What a run came to, and the errors that say it did not come to its end.

```
BridleError
└── RunError          `result` is what the run came to
    ├── RunFailed     the model or the engine failed
    ├── RunDenied     a person, a rule or a hook refused something, and the run stopped
    ├── RunLimited    a limit or the budget is used up; `result.text` may be a part of an answer
    └── RunCancelled  somebody stopped it
```
"""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from bridle.core.errors import BridleError, ProviderErrorKind
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import Usage
from bridle.core.protocol import Outcome
from bridle.surfaces.wire import DeniedCall, Result

ValueT = TypeVar("ValueT", covariant=True)


class RunResult(Struct, Generic[ValueT], frozen=True):
    """What a run came to.

    ```python
    result = await session.run("what does the invoice say", output=Invoice)
    result.value.total
    ```
    """

    value: ValueT
    """The value of the type that was asked for; None where none was, or none was given."""
    wire: Result
    """All of it, as every surface tells it."""

    @property
    def text(self) -> str:
        """What the model said last."""
        return self.wire.text

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.wire.outcome

    @property
    def completed(self) -> bool:
        """Tell whether it came to its end."""
        return self.wire.outcome == "completed"

    @property
    def reason(self) -> str:
        """Why, for every outcome but "completed"."""
        return self.wire.reason

    @property
    def usage(self) -> Usage:
        """The tokens it used."""
        return Usage(**self.wire.usage)

    @property
    def cost(self) -> float | None:
        """Dollars, or None when a price is unknown."""
        return self.wire.cost

    @property
    def turns(self) -> int:
        """How often the model was asked."""
        return self.wire.turns

    @property
    def tool_calls(self) -> int:
        """How many calls were made."""
        return self.wire.tool_calls

    @property
    def denied(self) -> Sequence[DeniedCall]:
        """The calls that were refused, each with the rules that would let it through."""
        return self.wire.denied

    @property
    def error(self) -> ProviderErrorKind | None:
        """How the model failed, where that ended the run."""
        return self.wire.error

    @property
    def session_id(self) -> SessionId:
        """The session it belongs to."""
        return self.wire.session_id

    @property
    def run_id(self) -> RunId:
        """The run itself."""
        return self.wire.run_id

    def __str__(self) -> str:
        return self.text


class RunError(BridleError):
    """A run did not come to its end; `result` is what it came to."""

    def __init__(self, result: RunResult[Any]) -> None:
        reason, _, hint = result.reason.partition(" (hint: ")
        denied = "; ".join(f"{call.tool}: {call.reason}" for call in result.denied)
        rules = ", ".join(f'"{rule}"' for call in result.denied for rule in call.rules)
        said = denied if result.outcome == "denied" and denied else reason
        if result.outcome == "denied" and rules and not hint:
            hint = f"allow=[{rules}] lets it through"
        super().__init__(said or f"the run ended: {result.outcome}", hint=hint.removesuffix(")"))
        self.result = result


class RunFailed(RunError):
    """The model or the engine failed."""


class RunDenied(RunError):
    """Something the run needed was refused."""


class RunLimited(RunError):
    """A limit or the budget is used up."""


class RunCancelled(RunError):
    """Somebody stopped the run."""


_ERRORS: dict[Outcome, type[RunError]] = {
    "failed": RunFailed,
    "denied": RunDenied,
    "limit": RunLimited,
    "budget_exhausted": RunLimited,
    "cancelled": RunCancelled,
}


def error_of(result: RunResult[Any]) -> RunError | None:
    """Return the error that a result stands for; None for a run that came to its end."""
    kind = _ERRORS.get(result.outcome)
    return None if kind is None else kind(result)
