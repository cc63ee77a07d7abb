"""Run options as keywords of `open`, of a session and of a single run; the innermost wins."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypedDict, Unpack

from msgspec.structs import replace

from bridle.config.rules import resolve_rules
from bridle.config.settings import find_user_folder
from bridle.core.budget import Limits
from bridle.core.codeact import PYTHON
from bridle.core.errors import UsageError
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.model import Effort, merge_params
from bridle.core.permission import Action, Mode, parse_rule
from bridle.core.protocol import RunOptions, SessionOptions
from bridle.surfaces.python.callbacks import AnswerCallback, Approve


class RunKeywords(TypedDict, total=False):
    """Options that `open`, `session` and `run` all accept.

    A session keeps those that it starts with. Rules of all three apply together, and so do limits and params
    with different names; for everything else but tools the innermost wins.
    """

    model: str
    """As `provider/name`."""
    system: str
    """Replaces the agent's instructions."""
    mode: Mode
    """What happens if no rule matches: "ask", "plan", "accept-edits" or "yolo"."""
    allow: Sequence[str]
    """Rules such as `bash(git status:*)`."""
    ask: Sequence[str]
    """Calls that need an approval, whatever is allowed."""
    deny: Sequence[str]
    """Calls that are never made, whatever is allowed."""
    approve: Approve | None
    """Decides approvals; without it, an approval stops the run."""
    answer: AnswerCallback | None
    """Answers the model's questions to the user; without it, they get no answer."""
    builtins: bool | Sequence[str]
    """Which built-in tools the model has besides the program's: all, none, or those with these names.

    A run has only those that its session has, too; `Session.configure` gives the session others.
    """
    without_tools: Sequence[str]
    """Names of tools that the model may not use."""
    limits: Limits
    """Limits of a run."""
    params: Mapping[str, Any]
    """Parameters for the provider, such as temperature."""
    effort: Effort
    """How much the model reasons, such as "low" or "high"."""
    code: bool
    """True lets the model write Python that calls the tools."""
    until: str
    """A shell command: the run continues until it exits with 0."""
    output_retries: int
    """How often the model may retry if its value does not fit `output`."""


MAX_NAME_CHARS = 80  # of a name quoted in a message

_JOINED = ("allow", "ask", "deny", "without_tools")


def check_keywords(given: Mapping[str, Any]) -> None:
    """Raise UsageError for an unknown or malformed keyword, as programs may not be type-checked."""
    for name in given:
        if name not in RunKeywords.__annotations__:
            raise UsageError(f'unknown option "{name}"', hint=", ".join(RunKeywords.__annotations__))
    builtins = given.get("builtins", True)
    texts_of = {name: given.get(name, ()) for name in _JOINED}
    for name, texts in {**texts_of, "builtins": () if isinstance(builtins, bool) else builtins}.items():
        if isinstance(texts, str):
            raise UsageError(f"{name} is a list of texts, not one", hint=f'{name}=["{texts}"]')
        if not isinstance(texts, Iterable) or not all(isinstance(text, str) for text in texts):
            raise UsageError(f"{name} is a list of texts, not {texts!r}")
    if not isinstance(given.get("limits", Limits()), Limits):
        raise UsageError(f"limits are not {given['limits']!r}", hint="limits=bridle.Limits(turns=10)")


def check_tool_names(given: RunKeywords, known: Sequence[str]) -> None:
    """Raise UsageError for a name that no tool has, with suggestions."""
    for keyword, name in named_tools(given):
        if name in known:
            continue
        near = get_close_matches(name[:MAX_NAME_CHARS].lower().replace("-", "_"), known, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"available tools: {', '.join(known)}"
        raise UsageError(f"{keyword}: no tool is named {name[:MAX_NAME_CHARS]!r}", hint=hint)


def named_tools(given: RunKeywords) -> list[tuple[str, str]]:
    """Return (option, tool name) for every tool named, without patterns and tools of MCP servers.

    The tools of a server are known only once it has started.
    """
    builtins = given.get("builtins", True)
    named = [("builtins", name) for name in (() if isinstance(builtins, bool) else builtins)]
    named += [("without_tools", name) for name in given.get("without_tools", ())]
    return [(keyword, name) for keyword, name in named if "*" not in name and not name.startswith(MCP_PREFIX)]


def merge_options(far: RunKeywords, **near: Unpack[RunKeywords]) -> RunKeywords:
    """Merge the inner options over the outer ones; raises UsageError."""
    check_keywords(near)
    made: dict[str, Any] = {**far, **near}
    for name in _JOINED:
        made[name] = (*far.get(name, ()), *near.get(name, ()))  # type: ignore[misc]  # each is a list of str
    made["params"] = merge_params(far.get("params", {}), near.get("params", {}))
    made["limits"] = near.get("limits", Limits()).over(far.get("limits", Limits()))
    return made  # type: ignore[return-value]  # made of two of them


RUN_ONLY = ("approve", "answer", "until", "output_retries")
"""Options that no session keeps: they are about one run, or functions of this program."""


def options_of_session(given: RunKeywords, cwd: str, environ: Mapping[str, str]) -> SessionOptions:
    """Convert to the options that a session keeps; raises ConfigError for a malformed rule, UsageError."""
    made = run_options(given, None, cwd, environ)
    return replace(made.of_session, without_builtins=made.without_tools)


def options_left(given: RunKeywords) -> RunKeywords:
    """Return the options that the runs of a new session need on top of what it keeps."""
    kept = (*RUN_ONLY, "without_tools")  # which may name the program's own tools
    return {name: value for name, value in given.items() if name in kept}  # type: ignore[return-value]


def run_options(
    given: RunKeywords,
    output_schema: dict[str, Any] | None,
    cwd: str,
    environ: Mapping[str, str],
) -> RunOptions:
    """Convert to the engine's run options; raises ConfigError for a malformed rule, UsageError."""

    def rules(action: Action, texts: Sequence[str]) -> tuple[str, ...]:
        parsed = [parse_rule(action, text) for text in texts]
        return tuple(map(str, resolve_rules(parsed, find_user_folder(environ), Path(cwd))))

    builtins = given.get("builtins", True)
    names = () if isinstance(builtins, bool) else tuple(builtins)
    if given.get("code"):
        names = (*names, PYTHON)
    return RunOptions(
        model=given.get("model"),
        mode=given.get("mode"),
        allow=rules("allow", given.get("allow", ())),
        ask=rules("ask", given.get("ask", ())),
        deny=rules("deny", given.get("deny", ())),
        limits=given.get("limits", Limits()),
        params=dict(given.get("params", {})),
        effort=given.get("effort"),
        code=given.get("code"),
        system=given.get("system"),
        builtins=None if builtins is True else names,
        without_tools=tuple(given.get("without_tools", ())),
        output_schema=output_schema,
        output_retries=given.get("output_retries", RunOptions().output_retries),
        until=given.get("until", ""),
    )
