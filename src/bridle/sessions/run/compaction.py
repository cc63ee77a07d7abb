"""Compaction: asks a model for a summary that replaces the older messages.

```
clearing old outputs is enough ─▶ OutputsCleared
small model ─▶ summary, part by part ─▶ Compacted
     └─ fails ─▶ the run's own model ─▶ Compacted, or CompactionFailed and nothing changes
the program's compactor, if there is one, instead of any model
```
"""

import asyncio
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.compaction import (
    Plan,
    check_pin,
    compose,
    cut_at_paragraph,
    is_due,
    measure,
    plan,
    render_for_summary,
)
from bridle.core.context import MESSAGE_FRAME_TOKENS, CompactionPolicy, Counted, estimate_tokens
from bridle.core.errors import RETRYABLE_KINDS, BridleError, ProviderError, UsageError
from bridle.core.kept_context import shorten_middle
from bridle.core.messages import Message, user_message
from bridle.core.model import Model, ModelRequest
from bridle.core.ports import CompactionTiming, Compactor, Provider, SummaryRequest, implements
from bridle.core.protocol import (
    Compacted,
    CompactionFailed,
    CompactionStarted,
    CompactionTrigger,
    Event,
    Pinned,
)
from bridle.core.session import Session
from bridle.core.surrogates import replace_surrogates
from bridle.sessions.engine import Engine
from bridle.sessions.run.metered_calls import MeteredCalls
from bridle.sessions.setup import Backend, Setup

INSTRUCTION_FILE = Path(__file__).with_suffix(".md")
RECALL_TOOL = "memory_search"
CANCELLED = "it was cancelled"
BY_PROGRAM = "program/compactor"
"""Stands for the model if the embedding program wrote the summary."""
TIMEOUT_S = 900.0  # a local model on a slow machine takes minutes to read a full window
MAX_WAIT_S = 30.0  # before the one retry
LEAST_OUTPUT_TOKENS = 512  # some models think before they write
WINDOW_MARGIN = 0.9  # sizes are estimates
OUTPUT_SHARE = 4  # an answer takes at most 1/4 of the window
PINS_SHARE = 8  # pins take at most 1/8 of the window
HALVINGS = 2  # how often to halve the parts when a vendor finds them too long


def plan_compaction(
    session: Session,
    backend: Backend,
    policy: CompactionPolicy,
    *,
    trigger: CompactionTrigger,
    turn: int,
    last_turn: int,
    compactor: Compactor | None = None,
) -> CompactionStarted | None:
    """Return the event that starts a compaction before a turn; None if none is needed or it gains nothing.

    `last_turn` is the turn of this run with the last compaction, whatever its outcome; 0 or less for none.
    """
    sizes = measure(session, backend.window, policy, trigger)
    if trigger == "automatic":
        due = is_due(sizes, policy, session, turn, last_turn)
        if implements(compactor, CompactionTiming) and not sizes.overflows:
            due = compactor.is_due(max(sizes.total, session.input_tokens), backend.window.tokens)
        if not due:
            return None
    if plan(session, backend.window, policy, trigger) is None:
        return None
    return CompactionStarted(trigger, session.input_tokens, sizes.history, len(session.messages))


async def compact(
    engine: Engine,
    setup: Setup,
    backend: Backend,
    session: Session,
    *,
    trigger: CompactionTrigger,
    bill: MeteredCalls,
    keep: str = "",
) -> tuple[Event, ...]:
    """Return what to record: OutputsCleared, Compacted or CompactionFailed; nothing if everything can stay.

    The text that the user wants kept comes as Pinned before Compacted. What was pinned in the meantime comes
    again after it, because the model has not read that yet. Raises only CancelledError;
    `metered_calls` then holds the cost so far.
    """
    pins = session.known.pins
    if keep.strip() and keep not in pins:
        try:
            check_pin(pins, keep)
        except UsageError as error:
            return (CompactionFailed(str(error)),)
        pins = (*pins, keep)
    planned = plan(session, backend.window, engine.settings.compaction, trigger, pins)
    if planned is None:
        return ()
    if planned.cleared is not None:
        return (planned.cleared,)
    told = _summary_input(session, planned, pins, keep)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            summary = await _summarise(engine, setup, backend, told, bill)
            compacted = await _compacted(setup, backend, told, engine.mask(summary))
    except TimeoutError:
        return (failed(bill, f"the summary took longer than {TIMEOUT_S:g} s"),)
    except BridleError as error:
        return (failed(bill, str(error)),)
    if compacted.tokens_after >= compacted.tokens_before:
        return (failed(bill, "the summary is longer than what it would replace"),)
    asked = [Pinned(keep)] if keep in pins and keep not in session.known.pins else []
    meanwhile = [Pinned(text) for text in session.known.pins if text not in pins]
    return (*asked, _paid(bill, compacted), *meanwhile)


class SummaryInput(Struct, frozen=True):
    """The input of a summary, as of the start of the compaction."""

    plan: Plan
    messages: tuple[Message, ...]
    kept: tuple[Counted, ...]
    summary: str
    """The previous summary, of what came before `messages`."""
    pins: tuple[str, ...]
    keep: str
    messages_before: int
    tokens_before: int


def _paid(bill: MeteredCalls, compacted: Compacted) -> Compacted:
    return replace(compacted, model=bill.model, usage=bill.usage, cost=bill.cost)


def failed(bill: MeteredCalls, error: str) -> CompactionFailed:
    """Return the event for a failed compaction, with its cost."""
    return CompactionFailed(error, bill.usage, bill.cost)


def _summary_input(session: Session, planned: Plan, pins: tuple[str, ...], keep: str) -> SummaryInput:
    before = session.transcript.compacted
    summary, said_before = (before.summary, before.corrections) if before is not None else ("", ())
    fallen = planned.carried.fallen[: len(said_before)]
    old = session.messages[: planned.first_kept]
    return SummaryInput(
        planned,
        (
            *(user_message(text) for text in fallen),
            *(item.message for item in old if item.kind != "summary"),
        ),
        tuple(session.messages[planned.first_kept :]),
        summary,
        pins,
        keep,
        len(session.messages),
        sum(item.tokens for item in session.messages),
    )


async def _compacted(setup: Setup, backend: Backend, told: SummaryInput, summary: str) -> Compacted:
    carried = told.plan.carried
    can_recall = RECALL_TOOL in setup.dispatcher.names
    message = compose(summary, carried, can_recall=can_recall)
    [tokens] = await backend.count(message.text)
    tokens += MESSAGE_FRAME_TOKENS
    return Compacted(
        message,
        len(told.kept),
        tokens,
        told.messages_before,
        len(told.kept) + 1,
        told.tokens_before,
        tokens + sum(item.tokens for item in told.kept),
        summary=summary,
        corrections=carried.corrections,
        left_out=carried.left_out,
    )


# ---------------------------------------------------------------------------- the summary


async def _summarise(
    engine: Engine, setup: Setup, backend: Backend, told: SummaryInput, bill: MeteredCalls
) -> str:
    """Ask the small model, then the run's own, or only the program's compactor; raises the last error."""
    if engine.compactor is not None:
        bill.model, bill.cost = BY_PROGRAM, 0.0
        return await _ask_compactor(engine.compactor, told)
    small = setup.agent.small_model
    if small and small != backend.model.ref:
        with suppress(BridleError):  # the run's own model may succeed
            return await _write(engine, *await engine.models.resolve(small), told, bill)
    return await _write(engine, backend.provider, backend.model, told, bill)


async def _ask_compactor(compactor: Compactor, told: SummaryInput) -> str:
    """Return the summary of the embedding program; raises BridleError, whatever the program raises."""
    limit = told.plan.most_tokens
    asked = SummaryRequest(told.messages, told.summary, told.pins, told.keep, limit)
    try:
        summary: object = await compactor.summarise(asked)
    except BridleError:
        raise
    except Exception as error:
        raise UsageError(f"the compactor raised {type(error).__name__}: {error}") from error
    if not isinstance(summary, str) or not summary.strip():
        raise UsageError("the compactor returned no text")
    return cut_at_paragraph(replace_surrogates(user_message(summary)).text.strip(), limit)


async def _write(
    engine: Engine, provider: Provider, model: Model, told: SummaryInput, bill: MeteredCalls
) -> str:
    instruction = await asyncio.to_thread(INSTRUCTION_FILE.read_text, "utf-8")
    most_output = max(2 * told.plan.most_tokens, LEAST_OUTPUT_TOKENS)
    most_output = min(most_output, model.max_output_tokens, model.window_tokens // OUTPUT_SHARE)
    asked = ModelRequest(model.name, instruction, (), max_output_tokens=most_output)
    fixed = _question(told, told.summary, "", model.window_tokens)
    taken = estimate_tokens(instruction + fixed) + most_output + told.plan.most_tokens
    part_tokens = int((model.window_tokens - taken) * WINDOW_MARGIN)
    for halving in range(HALVINGS + 1):
        try:
            return await _write_parts(
                engine, SummaryWriter(provider, model, asked, bill), told, part_tokens >> halving
            )
        except ProviderError as error:
            if error.kind != "context_length_exceeded" or halving == HALVINGS:
                raise
    raise AssertionError("the last try returns or raises")


class SummaryWriter(Struct, frozen=True):
    """A model that writes summaries, and the request it gets with every part."""

    provider: Provider
    model: Model
    asked: ModelRequest
    bill: MeteredCalls

    async def answer(self, question: str) -> str:
        """Return the model's text; raises ProviderError, also for an empty text, and UsageError."""
        request = replace(self.asked, messages=(user_message(question),))
        reply = await self.bill.ask(self.provider, self.model, request)
        if text := replace_surrogates(reply.message).text.strip():
            return text
        raise ProviderError("the summary is empty", kind="empty_reply")


async def _write_parts(engine: Engine, writer: SummaryWriter, told: SummaryInput, part_tokens: int) -> str:
    """Summarize part by part, each time with the summary so far."""
    summary = told.summary
    for part in await asyncio.to_thread(render_for_summary, told.messages, part_tokens):
        question = _question(told, summary, part, writer.model.window_tokens)
        try:
            answer = await writer.answer(question)
        except ProviderError as error:
            if error.kind not in RETRYABLE_KINDS or (error.retry_after_s or 0.0) > MAX_WAIT_S:
                raise
            delay_s = engine.retry.delay_s(0, engine.chance.jitter(), error.retry_after_s)
            await asyncio.sleep(min(delay_s, MAX_WAIT_S))
            answer = await writer.answer(question)
        summary = cut_at_paragraph(answer, told.plan.most_tokens)
    if not summary:
        raise ProviderError("there is no text to summarise", kind="empty_reply")
    return summary


def _question(told: SummaryInput, summary: str, part: str, window_tokens: int) -> str:
    words = told.plan.most_tokens * 3 // 4
    pins = shorten_middle("\n\n".join(told.pins), window_tokens // PINS_SHARE)
    blocks = [
        summary and f"The summary of what came before:\n<summary>\n{summary}\n</summary>",
        pins and f"Pinned, and kept beside your summary:\n<pinned>\n{pins}\n</pinned>",
        f"The record:\n<record>\n{part}\n</record>",
        told.keep
        and "The user asks that this is not left out: "
        + shorten_middle(told.keep, window_tokens // PINS_SHARE),
        f"Write the summary now, in at most {words:,} words.",
    ]
    return "\n\n".join(filter(None, blocks))
