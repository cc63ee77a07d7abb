"""Model calls outside the conversation, made within the run's limits and charged to it."""

from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.budget import Budget, Spend, max_spend
from bridle.core.context import estimate_message, estimate_tokens
from bridle.core.errors import ProviderError, UsageError
from bridle.core.messages import Usage
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.ports import Provider


class MeteredCalls(Struct):
    """The usage and cost of such calls, including the ones that failed."""

    budget: Budget | None = None
    """The budget to charge; None for no limit."""
    usage: Usage = Usage()
    cost: float | None = None
    model: str = ""

    async def ask(self, provider: Provider, model: Model, request: ModelRequest) -> ModelReply:
        """Return a model's reply; raises ProviderError, and UsageError if it may cost more than is left."""
        reserved, usage, cost = self._reserve(request, model), Usage(), None
        try:
            async with aclosing(provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, ModelReply):
                        usage, cost = item.usage, item.cost_at(model.price)
                        return item
        finally:
            self._settle(reserved, usage, cost, model)
        raise ProviderError("the model's stream ended without a reply", kind="connection_reset")

    def _reserve(self, request: ModelRequest, model: Model) -> Spend:
        sent = estimate_tokens(request.system) + sum(map(estimate_message, request.messages))
        reserved = replace(max_spend(sent, request.max_output_tokens, model.price), turns=0)
        if self.budget is not None and (level := self.budget.reserve(reserved)):
            used = f"{level.used:g} of {level.limit:g} used"
            raise UsageError(f"the answer may need more than is left of the {level.kind} limit: {used}")
        return reserved

    def _settle(self, reserved: Spend, usage: Usage, cost: float | None, model: Model) -> None:
        if self.budget is not None:
            self.budget.settle(reserved, Spend(tokens=usage.context, cost=cost or 0.0))
        if usage != Usage():
            self._add(usage, cost, model)

    def _add(self, usage: Usage, cost: float | None, model: Model) -> None:
        before = self.cost if self.model else 0.0
        self.cost = None if before is None or cost is None else before + cost
        self.usage += usage
        self.model = model.ref
