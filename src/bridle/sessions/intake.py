"""What a session takes in: which commands, and with what a run begins."""

from bridle.core.context import estimate_message, estimate_tokens
from bridle.core.errors import UsageError
from bridle.core.hook import HookOverride
from bridle.core.messages import Message
from bridle.core.protocol import MAX_PROMPT_BYTES, Command, EditQueued, Prompt, Resume, RunOptions, Steer
from bridle.core.protocol.commands import LENT_VARIABLES, MAX_VARIABLE_CHARS
from bridle.core.session import RunState
from bridle.core.surrogates import has_half_characters
from bridle.sessions.setup import Setup


def check_command(command: Command) -> None:
    """Refuse what could not be stored, or not be sent; raises UsageError."""
    if has_half_characters(command):
        raise UsageError(
            "a text holds half of a character (a lone surrogate)", hint="send whole Unicode text"
        )
    if isinstance(command, Prompt | Resume):
        _check_variables(command.options.env)
    if not isinstance(command, Prompt | Steer | EditQueued):
        return
    if not command.message.parts:
        raise UsageError("the prompt is empty")
    if len(command.message.text.encode()) > MAX_PROMPT_BYTES:
        raise UsageError(
            f"the prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB",
            hint="put the text into a file and name the file in the prompt",
        )


def _check_variables(env: dict[str, str]) -> None:
    for name, value in env.items():
        if name not in LENT_VARIABLES or len(value) > MAX_VARIABLE_CHARS or "\0" in value:
            raise UsageError(f"the variable {name[:80]!r} cannot be lent to programs")


async def prompt_tokens(setup: Setup, message: Message) -> int:
    """Count the words by the model's tokenizer, and whatever else there is by estimate."""
    [words] = await setup.backend.count(message.text)
    return estimate_message(message) - estimate_tokens(message.text) + words


def options_after_cut(run: RunState, changed: RunOptions) -> RunOptions:
    """A resumed run keeps what it was started with, above all its rules, unless told otherwise."""
    first = run.options
    return RunOptions(
        model=changed.model or run.model,
        mode=changed.mode or run.mode,
        allow=first.allow + changed.allow,
        ask=first.ask + changed.ask,
        deny=first.deny + changed.deny,
        limits=changed.limits.over(run.limits),
        params={**first.params, **changed.params},
        code=first.code if changed.code is None else changed.code,
        approve_each=first.approve_each or changed.approve_each,
        agent=changed.agent or first.agent,
        cwd=changed.cwd or first.cwd,
        env=changed.env,
        system=first.system if changed.system is None else changed.system,
        tools=first.tools if changed.tools is None else changed.tools,
        without_tools=first.without_tools + changed.without_tools,
        hooks=_both(first.hooks, changed.hooks),
        output_schema=first.output_schema if changed.output_schema is None else changed.output_schema,
        output_retries=first.output_retries if changed.output_schema is None else changed.output_retries,
        until=changed.until or first.until,
    )


def _both(first: HookOverride, changed: HookOverride) -> HookOverride:
    """Add hooks, take another one of the same name, or leave one out that is named."""
    gone = {*changed.disable, *(entry.id for entry in changed.entries)}
    kept = tuple(entry for entry in first.entries if entry.id not in gone)
    return HookOverride(kept + changed.entries, tuple(dict.fromkeys(first.disable + changed.disable)))
