"""ACP stop reasons and usage of a run."""

from acp.schema import StopReason, Usage

from bridle.core.budget import BudgetKind
from bridle.core.messages import StopReason as ModelStop
from bridle.surfaces.shared.output_format import Result

TOKENS: BudgetKind = "tokens"


def stop_reason(result: Result, last: ModelStop, exhausted: BudgetKind | None) -> StopReason:
    """Return why a run ended, given how the model's last reply ended and which budget was exhausted.

    A failed run is reported as an error, so that its stop reason is never sent.
    """
    match result.outcome:
        case "cancelled" | "denied":
            return "cancelled"
        case "budget_exhausted":
            return "max_tokens" if exhausted == TOKENS else "max_turn_requests"
        case "limit":
            return "max_turn_requests"
        case "completed" | "failed":
            return _of_reply(last)


def _of_reply(last: ModelStop) -> StopReason:
    match last:
        case "max_tokens":
            return "max_tokens"
        case "content_filter":
            return "refusal"
        case "end_turn" | "tool_use" | "stop_sequence" | "cancelled":
            return "end_turn"


def usage_of(result: Result) -> Usage:
    """Return the token usage of a run."""
    used = result.usage
    return Usage(
        total_tokens=used["input"] + used["output"] + used["cache_read"] + used["cache_write"],
        input_tokens=used["input"],
        output_tokens=used["output"],
        thought_tokens=used["reasoning"] or None,
        cached_read_tokens=used["cache_read"] or None,
        cached_write_tokens=used["cache_write"] or None,
    )
