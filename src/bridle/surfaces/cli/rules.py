"""`bridle rules`: list and change the rules for agents, and check what they decide about a call.

```
ask  bash git status && rm -rf x
     runs a command (mode ask)

  allow  read     command  git status  only reads (mode ask)
  ask    execute  command  rm -rf x    runs a command (mode ask)
```
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bridle.app import open_blobs, open_sandbox, open_tools, open_traps
from bridle.app.mcp import find_mcp_tool
from bridle.config.agents import load_agent
from bridle.config.edit import add_rules, remove_rule
from bridle.config.rule_list import LocatedRule
from bridle.config.rules import resolve_rules
from bridle.config.settings import Settings, load_settings
from bridle.core.errors import ConfigError, ToolError, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.mcp_servers import MCP_PREFIX
from bridle.core.messages import ToolCall
from bridle.core.permission import Action, Mode, Rule, Verdict, judge, parse_rule, suggest_rules
from bridle.core.ports import Tool, ToolContext
from bridle.core.tool import Access, AccessClass, Subject, SubjectKind, is_among
from bridle.core.traps import no_trap, with_traps
from bridle.surfaces.cli.options import check_rules
from bridle.surfaces.cli.session_lookup import load_settings_here, resolve_directory
from bridle.surfaces.shared.folder_info import rule_list
from bridle.surfaces.shared.terminal import Colour, Console, Screen, columns, one_line, pad, visible
from bridle.surfaces.shared.text_format import describe_args
from bridle.tools.toolbox import Toolbox

EXIT_CODES: dict[Action, int] = {"allow": 0, "ask": 1, "deny": 77}
COLOURS: dict[Action, Colour] = {"allow": "done", "ask": "warning", "deny": "failed"}


class SubjectVerdict(Struct, frozen=True):
    """The decision about one thing that a call would touch."""

    kind: SubjectKind
    value: str
    access: AccessClass
    tool: str
    decision: Action
    rule: str | None
    why: str


class CallVerdict(Struct, frozen=True):
    """The output of `rules check --json`."""

    decision: Action
    rule: str | None
    """The rule that decided; null if none did."""
    why: str
    subjects: list[SubjectVerdict] = []
    suggestions: tuple[str, ...] = ()
    """The rules that "always" would add."""


def check(args: argparse.Namespace, console: Console) -> int:
    """Decide about a call as a run here would; the exit code gives the decision."""
    settings = _load(console, args.cwd)
    agent = load_agent(args.agent or settings.agent, settings)
    _warn(console, agent.left_out.warnings)
    rules = (*agent.agent.rules, *_flag_rules(args, settings))
    names = agent.agent.tools
    sandbox = open_sandbox(settings)
    tools = list(open_tools(settings, console.environ, open_blobs(settings), sandbox))
    if (
        args.tool.startswith(MCP_PREFIX)
        and (server_tool := find_mcp_tool(args.tool, settings, sandbox)) is not None
    ):
        tools.append(server_tool)
    toolbox = Toolbox([tool for tool in tools if names is None or is_among(tool.spec.name, names)])
    try:
        call = _call(toolbox, args.tool, args.args)
    except ToolError as error:
        raise UsageError(error.message, hint=error.hint) from None
    judgement = check_call(
        toolbox.get(call.name),
        call,
        rules,
        args.mode or agent.agent.mode,
        str(settings.cwd),
        open_traps(settings).place_of,
    )
    if args.json:
        console.out.json(msgspec.json.format(msgspec.json.encode(judgement), indent=2))
    else:
        for line in format_verdict(console.out, call, judgement):
            console.out.line(line)
    return EXIT_CODES[judgement.decision]


def list_rules(args: argparse.Namespace, console: Console) -> int:
    """List the rules that apply here, each with its place, strictest first."""
    settings = _load(console, None)
    _warn(console, load_agent(args.agent or settings.agent, settings).left_out.warnings)
    found = rule_list(settings, args.agent or "")
    out = console.out
    if args.json:
        out.json(msgspec.json.format(msgspec.json.encode(found), indent=2))
        return 0
    console.err.line(f"mode {found.mode}{'' if found.rules else ', no rules'}")
    console.err.flush()
    rules = [pad(one_line(rule.rule), _width(found.rules)) for rule in found.rules]
    for rule, text in zip(found.rules, rules, strict=True):
        note = "" if rule.in_effect else "  (no effect: the project is not trusted)"
        colour: Colour = COLOURS[rule.action] if rule.in_effect else "detail"
        place = out.paint("detail", f"{one_line(rule.place)}{note}")
        out.line(f"{out.paint(colour, f'{rule.action:<5}')}  {text}  {place}")
    return 0


def add(args: argparse.Namespace, console: Console) -> int:
    """Add a rule to the user's config file."""
    (rule,) = check_rules(args.action, [args.rule])
    file = load_settings_here(console).user_file
    if add_rules(file, args.action, [rule]):
        console.done(f"{args.action} {one_line(rule)} added to {file}")
    else:
        console.done(f"{args.action} {one_line(rule)} is already in {file}")
    return 0


def remove(args: argparse.Namespace, console: Console) -> int:
    """Remove a rule from the user's config file."""
    (rule,) = check_rules(args.action, [args.rule])
    file = load_settings_here(console).user_file
    if not remove_rule(file, args.action, rule):
        raise ConfigError(f'{file}: has no rule {args.action} "{rule}"', hint="bridle rules list")
    console.done(f"{args.action} {one_line(rule)} removed from {file}")
    return 0


# ---------------------------------------------------------------------------- decisions


def _flag_rules(args: argparse.Namespace, settings: Settings) -> tuple[Rule, ...]:
    actions: tuple[Action, ...] = ("allow", "ask", "deny")
    rules = [
        parse_rule(action, text) for action in actions for text in check_rules(action, vars(args)[action])
    ]
    return resolve_rules(rules, settings.user_folder, settings.cwd)


def _call(toolbox: Toolbox, name: str, text: str) -> ToolCall:
    toolbox.get(name)
    try:
        given = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise UsageError(f"--args: is not JSON: {error}", hint="""--args '{"path": "a.txt"}\'""") from None
    if not isinstance(given, dict):
        raise UsageError("--args: is not a JSON object", hint="""--args '{"path": "a.txt"}\'""")
    call = ToolCall(CallId("check"), name, given)
    return ToolCall(call.id, name, toolbox.arguments(call))


def check_call(
    tool: Tool,
    call: ToolCall,
    rules: tuple[Rule, ...],
    mode: Mode,
    cwd: str,
    find_trap: Callable[[str, str], str] = no_trap,
) -> CallVerdict:
    """Decide about a call with valid arguments, as a whole and for each thing that it would touch."""
    context = ToolContext(
        SessionId("check"), cwd, emit=lambda text: None, call_id=call.id, rules=rules, mode=mode
    )
    try:
        access = with_traps(tool.access(call.args, context), lambda path: find_trap(cwd, path))
    except ToolError as error:  # in a run, the model gets the error and nothing is executed
        return CallVerdict("deny", None, str(error))
    verdict = judge(access, rules, mode)
    subjects = [_judge_subject(access, subject, rules, mode) for subject in access.subjects]
    suggestions = suggest_rules(access, rules, mode) if verdict.action == "ask" else ()
    return CallVerdict(verdict.action, _rule(verdict), verdict.why, subjects, suggestions)


def _judge_subject(access: Access, subject: Subject, rules: Sequence[Rule], mode: Mode) -> SubjectVerdict:
    verdict = judge(Access(access.tool, access.access, (subject,), unproven=access.unproven), rules, mode)
    return SubjectVerdict(
        subject.kind,
        subject.value,
        subject.access or access.access,
        subject.tool or access.tool,
        verdict.action,
        _rule(verdict),
        verdict.why,
    )


def _rule(verdict: Verdict) -> str | None:
    return None if verdict.rule is None else str(verdict.rule)


# ---------------------------------------------------------------------------- output


def format_verdict(screen: Screen, call: ToolCall, judgement: CallVerdict) -> list[str]:
    """Return the decision about a call, the reason, and a line for each thing that it would touch."""
    decision = screen.paint(COLOURS[judgement.decision], judgement.decision)
    indent = " " * (len(judgement.decision) + 2)
    lines = [
        f"{decision}  {screen.paint('name', call.name)} {describe_args(call.args)}".rstrip(),
        f"{indent}{visible(judgement.why)}",
    ]
    if judgement.subjects:
        lines += ["", *_table(screen, judgement.subjects)]
    if judgement.suggestions:
        rules = ", ".join(screen.paint("name", rule) for rule in judgement.suggestions)
        lines += ["", f'"always" would allow {rules}']
    return lines


def _table(screen: Screen, subjects: Sequence[SubjectVerdict]) -> list[str]:
    rows = [(row.decision, row.access, row.kind, one_line(row.value), one_line(row.why)) for row in subjects]
    widths = [max(columns(row[index]) for row in rows) for index in range(4)]
    lines = []
    for row in rows:
        first, *others = (pad(cell, width) for cell, width in zip(row[:4], widths, strict=True))
        decision = screen.paint(COLOURS[row[0]], first)
        lines.append(f"  {decision}  {'  '.join(others)}  {screen.paint('detail', row[4])}")
    return lines


def _width(rules: Sequence[LocatedRule]) -> int:
    return max((columns(one_line(rule.rule)) for rule in rules), default=0)


def _load(console: Console, cwd: str | None) -> Settings:
    settings = load_settings(console.environ, Path(resolve_directory(cwd)))
    _warn(console, settings.warnings)
    return settings


def _warn(console: Console, warnings: Sequence[Any]) -> None:
    for warning in warnings:
        console.warn(warning)
