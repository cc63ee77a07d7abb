"""Attack 10: every tool in every mode, so that no mode forgets a tool."""

from typing import Any

import pytest

from bridle.core.permission import Mode
from bridle.core.ports import ToolContext
from bridle.core.tool import AccessClass
from tests.attacks.stage import SESSION, Stage, rules
from tests.tools.test_texts import FILES

CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": "notes.txt"},
    "write_file": {"path": "new.txt", "content": "x"},
    "edit_file": {"path": "notes.txt", "old_str": "nothing", "new_str": "x"},
    "multi_edit": {"path": "notes.txt", "edits": [{"old_str": "nothing", "new_str": "x"}]},
    "diagnostics": {"path": "src/main.py"},
    "replace_symbol": {"symbol": "main", "path": "src/main.py", "action": "delete"},
    "code_action": {"path": "src/main.py", "line": 1, "action": "f1"},
    "bash": {"command": "make"},
    "web_fetch": {"url": "http://example.com/"},
    "download": {"url": "http://example.com/", "path": "f"},
}
"""Calls whose arguments matter; those of other tools follow from their schemas."""

MODES: tuple[Mode, ...] = ("ask", "plan", "accept-edits", "yolo")
#             ask      plan     accept-edits  yolo
SAID: dict[AccessClass, tuple[str, ...]] = {
    "read": ("allow", "allow", "allow", "allow"),
    "write": ("ask", "deny", "allow", "allow"),
    "execute": ("ask", "deny", "ask", "allow"),
    "network": ("ask", "ask", "ask", "allow"),
}
EXCEPTIONS = {"download": ("ask", "deny", "ask", "allow")}
"""A download also writes a file."""

CLASSES: dict[AccessClass, list[str]] = {
    "read": (
        "read_file grep glob ls list_files diagnostics references definition symbols call_hierarchy skill "
        "jobs job_output job_kill todos ask_user datetime wait memory_search agent_spawn agent_fork "
        "agent_status agent_list agent_cancel send_message"
    ).split(),
    "write": "write_file edit_file multi_edit rename_symbol replace_symbol code_action".split(),
    "execute": ["bash", "python"],
    "network": ["web_fetch", "download", "web_search", "code_search"],
}
"""The access that these tools must always declare; a new tool need not be here."""
TOOLS = sorted({path.stem for path in FILES} - {"tool_call", "tool_search"})
"""Every tool but the two that only lead to others."""


def call_of(stage: Stage, tool: str) -> dict[str, Any]:
    """Return the arguments of a call: those in `CALLS`, or the required ones with any value."""
    [spec] = [spec for spec in stage.specs if spec.name == tool]
    schemas = spec.parameters.get("properties", {})
    required = {name: any_value(schemas[name]) for name in spec.parameters.get("required", ())}
    return CALLS.get(tool, required)


def any_value(schema: dict[str, Any]) -> Any:
    """Return a value that a schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    values = {"string": "x", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    return values[schema["type"]]


def declared_access(stage: Stage, tool: str) -> AccessClass:
    """Return the access that a tool declares for its call."""
    [found] = [one for one in stage.tools if one.spec.name == tool]
    return found.access(call_of(stage, tool), ToolContext(SESSION, str(stage.project), print)).access


def expected(stage: Stage, tool: str, mode: Mode) -> str:
    """Return what a mode must say about a tool."""
    return EXCEPTIONS.get(tool, SAID[declared_access(stage, tool)])[MODES.index(mode)]


@pytest.mark.parametrize("tool", TOOLS)
def test_every_mode_says_what_it_should_about_every_tool(judge_stage: Stage, tool: str):
    said = [judge_stage.check(tool, call_of(judge_stage, tool), (), mode).action for mode in MODES]

    assert said == [expected(judge_stage, tool, mode) for mode in MODES]
    assert said[-1] == "allow"  # so the call itself is valid


def test_no_tool_is_missing(judge_stage: Stage):
    assert {spec.name for spec in judge_stage.specs} == set(TOOLS) >= {*CALLS, *EXCEPTIONS}


@pytest.mark.parametrize(
    ("access", "tool"), [(access, tool) for access, tools in CLASSES.items() for tool in tools]
)
def test_a_tool_keeps_its_access(judge_stage: Stage, access: AccessClass, tool: str):
    assert declared_access(judge_stage, tool) == access


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_denied_is_denied_in_every_mode(judge_stage: Stage, tool: str, mode: Mode):
    call, both = call_of(judge_stage, tool), rules(f"allow {tool}", f"deny {tool}")

    assert judge_stage.check(tool, call, both, mode).action == "deny"
    assert judge_stage.check(tool, call, rules("deny *"), mode).action == "deny"


@pytest.mark.parametrize("tool", TOOLS)
def test_no_allow_rule_changes_anything_in_plan_mode(judge_stage: Stage, tool: str):
    said = judge_stage.check(tool, call_of(judge_stage, tool), rules(f"allow {tool}", "allow *"), "plan")

    assert (said.action == "deny") == (expected(judge_stage, tool, "plan") == "deny")


# A rule for one tool, and the other tools that it must hold for as well.
HOLDS_FOR: list[tuple[str, str, dict[str, Any]]] = [
    ("deny read_file(notes.txt)", "edit_file", CALLS["edit_file"]),
    ("deny read_file(notes.txt)", "multi_edit", CALLS["multi_edit"]),
    ("deny read_file(notes.txt)", "write_file", {"path": "notes.txt", "content": ""}),
    ("deny read_file(src/**)", "diagnostics", CALLS["diagnostics"]),
    ("deny read_file(src/**)", "replace_symbol", CALLS["replace_symbol"]),
    ("deny edit_file(src/**)", "replace_symbol", CALLS["replace_symbol"]),
    ("deny edit_file(src/**)", "code_action", CALLS["code_action"]),
    ("deny read_file(notes.txt)", "bash", {"command": "cat notes.txt"}),
    ("deny read_file(notes.txt)", "bash", {"command": "cat < notes.txt"}),
    ("deny read_file(notes.txt)", "bash", {"command": "cp notes.txt x"}),
    ("deny read_file(notes.txt)", "grep", {"pattern": "x", "path": "notes.txt"}),
    ("deny read_file(notes.txt)", "download", {"url": "http://example.com/", "path": "notes.txt"}),
    ("deny edit_file(src/**)", "write_file", {"path": "src/main.py", "content": ""}),
    (
        "deny edit_file(src/**)",
        "multi_edit",
        {"path": "src/main.py", "edits": [{"old_str": "a", "new_str": "b"}]},
    ),
    ("deny edit_file(src/**)", "bash", {"command": "echo x > src/main.py"}),
    ("deny edit_file(src/**)", "bash", {"command": "rm -r src"}),
    ("deny edit_file(src/**)", "bash", {"command": "mv src s"}),
    ("deny edit_file(src/**)", "bash", {"command": "cd src && touch new.py"}),
    ("deny edit_file(src/**)", "download", {"url": "http://example.com/", "path": "src/x"}),
    ("deny write_file(src/**)", "edit_file", {"path": "src/main.py", "old_str": "a", "new_str": "b"}),
    ("deny web_fetch(domain:example.com)", "download", CALLS["download"]),
    ("deny download(domain:example.com)", "web_fetch", CALLS["web_fetch"]),
    ("deny web_fetch(domain:example.com)", "web_fetch", {"url": "http://EXAMPLE.com./"}),
    ("deny web_fetch(domain:*.example.com)", "web_fetch", {"url": "https://a.b.example.com:8443/"}),
    ("deny web_fetch(domain:example.com)", "bash", {"command": "curl http://example.com/"}),
]


@pytest.mark.parametrize(("rule", "tool", "args"), HOLDS_FOR)
async def test_a_rule_holds_for_every_tool_that_would_do_the_same(
    judge_stage: Stage, rule: str, tool: str, args: dict[str, Any]
):
    decided = [judge_stage.check(tool, args, given, "yolo").action for given in (rules(rule), ())]

    assert decided == ["deny", "allow"]
