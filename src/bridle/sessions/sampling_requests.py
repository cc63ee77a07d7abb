"""MCP sampling: model requests from tool servers, within the run's limits, screened by hooks, recorded."""

from typing import Any

from bridle.core.context import answer_reserve, estimate_message, estimate_tokens
from bridle.core.errors import BridleError, ToolError
from bridle.core.hook import ModelReplyView, ModelRequestView
from bridle.core.ids import CallId
from bridle.core.messages import Message, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import ModelSampled
from bridle.core.sampling_request import SampleReply, SampleRequest
from bridle.core.surrogates import replace_surrogates
from bridle.sessions.hook_patches import apply_reply_outcome, apply_request_patches
from bridle.sessions.metered_calls import MeteredCalls
from bridle.sessions.run_context import RunContext, refusal


async def sample(kit: RunContext, call_id: CallId, order: SampleRequest) -> SampleReply:
    """Ask the run's model on behalf of a server; raises ToolError if that fails or is refused."""
    request = await _screen_request(kit, _request(kit, order))
    backend, bill = kit.backend, MeteredCalls(kit.budget)
    try:
        reply = await bill.ask(backend.provider, backend.model, request)
    except BridleError as error:
        raise ToolError(f"{order.by} could not ask the model: {error}") from error
    finally:
        if bill.usage != Usage():
            event = ModelSampled(kit.run.run_id, kit.run.turn, call_id, order.by, bill.usage, bill.cost)
            await kit.journal.record_whole(event)
    message = await _screen_reply(kit, reply)
    return SampleReply(replace_surrogates(message).text, backend.model.name, reply.stop_reason)


def _request(kit: RunContext, order: SampleRequest) -> ModelRequest:
    model = kit.backend.model
    sent = estimate_tokens(order.system) + sum(map(estimate_message, order.messages))
    reserve = answer_reserve(model.window_tokens, model.max_output_tokens)
    if sent + reserve > model.window_tokens:
        raise ToolError(f"{order.by} could not ask the model: its request does not fit into the window")
    params: dict[str, Any] = {**kit.setup.params}
    if order.temperature is not None:
        params["temperature"] = order.temperature
    most = max(1, min(order.max_tokens, model.max_output_tokens))
    return ModelRequest(model.name, order.system, order.messages, max_output_tokens=most, params=params)


async def _screen_request(kit: RunContext, request: ModelRequest) -> ModelRequest:
    if not kit.hooks.has_hook_at("pre_llm_request"):
        return request
    params = request.params
    seen = ModelRequestView(
        request.max_output_tokens, len(request.messages), params.get("temperature"), params
    )
    asked = await kit.hooks.ask("pre_llm_request", llm_request=seen)
    await kit.journal.record_whole(*asked.events)
    if asked.outcome.deny is not None:
        raise ToolError(refusal(asked.outcome.deny))
    return apply_request_patches(request, asked.outcome.patches)


async def _screen_reply(kit: RunContext, reply: ModelReply) -> Message:
    if not kit.hooks.has_hook_at("post_llm_response"):
        return reply.message
    seen = ModelReplyView(reply.message.text, (), reply.stop_reason, reply.usage)
    asked = await kit.hooks.ask("post_llm_response", llm_response=seen)
    await kit.journal.record_whole(*asked.events)
    if asked.outcome.deny is not None:
        raise ToolError(refusal(asked.outcome.deny))
    return apply_reply_outcome(reply.message, asked.outcome)
