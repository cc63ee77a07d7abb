"""Checks incoming commands, and works out the options and keys that a run starts with."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs
from msgspec.json import encode
from msgspec.structs import replace

from bridle.core.context import estimate_message, estimate_tokens
from bridle.core.errors import ConfigError, KeyTaken, UsageError
from bridle.core.hook import HookOverride
from bridle.core.messages import Media, Message, Text, check_media, has_images
from bridle.core.model import Model, merge_params
from bridle.core.permission import Action, parse_rule
from bridle.core.protocol import (
    LIKE_AGENT,
    MAX_PROMPT_BYTES,
    Command,
    Configure,
    Decide,
    EditQueued,
    MessageAdded,
    Prompt,
    PromptKey,
    Resume,
    RunOptions,
    SessionLabelled,
    SessionOptions,
    Steer,
    TakenPrompt,
)
from bridle.core.protocol.commands import CLIENT_VARIABLES, MAX_KEY_CHARS, MAX_VARIABLE_CHARS
from bridle.core.session import RunState, Session
from bridle.core.surrogates import has_surrogates
from bridle.core.tool import is_among
from bridle.sessions.setup import Setup

DIGEST_CHARS = 32
ACTIONS: tuple[Action, ...] = ("allow", "ask", "deny")
MAX_LABELS = 64
MAX_LABEL_CHARS = 256
MAX_MESSAGES = 1_000
MAX_RULES = 32  # rules in one answer


def check_command(command: Command) -> None:
    """Refuse a command that could not be stored or sent; raises UsageError.

    Without this, an untyped caller could store a command that cannot be read again.
    """
    _check_types(command, Command, "the command is invalid")
    if isinstance(command, Decide):
        _check_rules(command)
    if isinstance(command, Prompt | Resume):
        _check_variables(command.options.env)
    if not isinstance(command, Prompt | Steer | EditQueued):
        return
    if not isinstance(command, EditQueued) and len(command.key) > MAX_KEY_CHARS:
        raise UsageError(f"the key of a prompt is longer than {MAX_KEY_CHARS} characters")
    if not command.message.parts:
        raise UsageError("the prompt is empty")
    if command.message.role != "user" or not all(
        isinstance(part, Text | Media) for part in command.message.parts
    ):
        raise UsageError("a prompt must be a user message with text and media")
    if len(command.message.text.encode()) > MAX_PROMPT_BYTES:
        raise UsageError(
            f"the prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB",
            hint="put the text into a file and name the file in the prompt",
        )
    check_media(command.message)


def _check_types(value: Struct, kind: Any, problem: str) -> None:
    try:
        msgspec.convert(msgspec.to_builtins(value), kind)
    except (msgspec.ValidationError, TypeError, RecursionError) as error:
        raise UsageError(f"{problem}: {error}") from None
    if has_surrogates(value):
        raise UsageError(
            "the text contains half a character (a lone surrogate)", hint="send valid Unicode text"
        )


def _check_rules(decision: Decide) -> None:
    if not decision.rules:
        return
    if decision.answer not in ("session", "always"):
        raise UsageError(f'the answer "{decision.answer}" cannot add rules')
    if len(decision.rules) > MAX_RULES:
        raise UsageError(f"more than {MAX_RULES} rules with one answer")
    for rule in decision.rules:
        try:
            parse_rule("allow", rule)
        except ConfigError as error:
            raise UsageError(error.message, hint=error.hint) from None


def _check_variables(env: dict[str, str]) -> None:
    for name, value in env.items():
        if name not in CLIENT_VARIABLES or len(value) > MAX_VARIABLE_CHARS or "\0" in value:
            raise UsageError(f"the variable {name[:80]!r} cannot be passed to programs")


def check_sight(model: Model, message: Message) -> None:
    """Refuse images for a model that cannot see them; raises UsageError."""
    if model.images or not has_images(message):
        return
    hint = "choose another model, or send the prompt without the image"
    if model.images is None:
        hint += f"; if it can, bridle config set 'models.\"{model.ref}\".images' true"
    raise UsageError(f"{model.ref} cannot see images", hint=hint)


def key_of(command: Prompt | Steer) -> PromptKey | None:
    """Return a prompt's idempotency key with a digest of its content; None if it came without a key."""
    if not command.key:
        return None
    options = replace(command.options, env={}, trace="") if isinstance(command, Prompt) else None
    digest = hashlib.sha256(encode((command.message, options), order="deterministic")).hexdigest()
    return PromptKey(command.key, digest[:DIGEST_CHARS])


def find_taken_prompt(key: PromptKey | None, session: Session) -> TakenPrompt | None:
    """Find what happened to a prompt with this key; raises KeyTaken if the key belongs to another one."""
    taken = session.known.taken.get(key.name) if key is not None else None
    if key is not None and taken is not None and taken.digest != key.digest:
        raise KeyTaken(
            f'the key "{key.name}" belongs to another prompt', hint="use a new key for each prompt"
        )
    return taken


async def prompt_tokens(setup: Setup, message: Message) -> int:
    """Count the text with the model's tokenizer, and estimate everything else."""
    [words] = await setup.backend.count(message.text)
    return estimate_message(message) - estimate_tokens(message.text) + words


def resumed_options(run: RunState, changed: RunOptions) -> RunOptions:
    """Return the options of a resumed run: those it started with, above all its rules, with the changes."""
    first = replace(run.options, model=run.model, mode=run.mode, limits=run.limits)
    return merge_options(first, changed)


def check_session_options(options: SessionOptions) -> None:
    """Refuse options that could not be stored, or that no run could start with; raises UsageError."""
    _check_types(options, SessionOptions, "the options of the session are invalid")
    try:
        for action in ACTIONS:
            for text in getattr(options, action):
                parse_rule(action, text)
        options.limits.check()
    except ConfigError as error:
        raise UsageError(error.message, hint=error.hint) from None


def add_messages(messages: Sequence[Message], *, is_first: bool) -> list[MessageAdded]:
    """Return the events that add a client's messages; raises UsageError for what no request could send."""
    if len(messages) > MAX_MESSAGES:
        raise UsageError(f"more than {MAX_MESSAGES:,} messages at once")
    for message in messages:
        _check_types(message, Message, "a message is invalid")
        is_plain = all(isinstance(part, Text | Media) for part in message.parts)
        if message.role not in ("user", "assistant") or not message.parts or not is_plain:
            raise UsageError("a client can add text and media of the user and the assistant only")
        check_media(message)
    if is_first and messages and messages[0].role != "user":
        raise UsageError("the first message of a session must be the user's")
    if sum(len(message.text.encode()) for message in messages) > MAX_PROMPT_BYTES:
        raise UsageError(
            f"the messages are longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB",
            hint="put the text into a file and name the file in the prompt",
        )
    return [MessageAdded(message, "import", estimate_message(message)) for message in messages]


def changed_labels(now: Mapping[str, str], changes: Mapping[str, str | None]) -> dict[str, str]:
    """Return the labels of a session after a change; raises UsageError."""
    labels = {name: value for name, value in {**now, **changes}.items() if value is not None}
    _check_types(SessionLabelled(labels), SessionLabelled, "the labels are invalid")
    for name, value in labels.items():
        if not 0 < len(name) <= MAX_LABEL_CHARS or len(value) > MAX_LABEL_CHARS:
            raise UsageError(f"a label has a name and up to {MAX_LABEL_CHARS} characters in each part")
    if len(labels) > MAX_LABELS:
        raise UsageError(f"a session has at most {MAX_LABELS} labels")
    return labels


def configured_options(now: SessionOptions, command: Configure) -> SessionOptions:
    """Return the options of a session after a change; raises UsageError."""
    known = SessionOptions.__struct_fields__
    if unknown := [name for name in command.reset if name not in known]:
        raise UsageError(f'a session has no option "{unknown[0][:80]}"', hint=", ".join(known))
    usual = SessionOptions()
    kept = replace(now, **{name: getattr(usual, name) for name in command.reset})
    given = {name: getattr(command.options, name) for name in known}
    changed = replace(kept, **{name: value for name, value in given.items() if value != getattr(usual, name)})
    check_session_options(changed)
    return changed


def new_run_options(session: Session, given: RunOptions) -> RunOptions:
    """Return the options of a new run: those of the session, with those given for the run."""
    kept = session.known.options
    return given if kept == LIKE_AGENT else merge_options(RunOptions(**structs.asdict(kept)), given)


def merge_options(first: RunOptions, changed: RunOptions) -> RunOptions:
    """Return options with the changes applied; a tool that is turned off stays so."""
    return RunOptions(
        model=changed.model or first.model,
        mode=changed.mode or first.mode,
        allow=_joined(first.allow, changed.allow),
        ask=_joined(first.ask, changed.ask),
        deny=_joined(first.deny, changed.deny),
        limits=changed.limits.over(first.limits),
        params=merge_params(first.params, changed.params),
        code=first.code if changed.code is None else changed.code,
        approve_each=first.approve_each or changed.approve_each,
        agent=changed.agent or first.agent,
        cwd=changed.cwd or first.cwd,
        env=changed.env,
        system=first.system if changed.system is None else changed.system,
        builtins=_in_both(first.builtins, changed.builtins),
        without_builtins=_joined(first.without_builtins, changed.without_builtins),
        tools=_in_both(first.tools, changed.tools),
        without_tools=_joined(first.without_tools, changed.without_tools),
        hooks=_merge_hooks(first.hooks, changed.hooks),
        effort=changed.effort or first.effort,
        output_schema=first.output_schema if changed.output_schema is None else changed.output_schema,
        output_retries=first.output_retries if changed.output_schema is None else changed.output_retries,
        until=changed.until or first.until,
        trace=first.trace or changed.trace,
    )


def _joined(first: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(first + more))


def _in_both(first: tuple[str, ...] | None, changed: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the names and patterns of the second list that the first one contains; None is all tools."""
    if first is None or changed is None:
        return first if changed is None else changed
    narrower = [name for name in first if "*" not in name and is_among(name, changed)]
    return _joined(tuple(name for name in changed if is_among(name, first)), tuple(narrower))


def _merge_hooks(first: HookOverride, changed: HookOverride) -> HookOverride:
    """Merge hook overrides: a changed entry replaces one of the same id, a disabled one is dropped."""
    gone = {*changed.disable, *(entry.id for entry in changed.entries)}
    kept = tuple(entry for entry in first.entries if entry.id not in gone)
    return HookOverride(kept + changed.entries, tuple(dict.fromkeys(first.disable + changed.disable)))
