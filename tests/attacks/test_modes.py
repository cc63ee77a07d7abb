"""Attack 10: every tool in every mode, so that no mode forgets a tool."""

from typing import Any

import pytest

from bridle.core.permission import Mode
from tests.attacks.stage import Stage, rules

CALLS: dict[str, dict[str, Any]] = {
    "read_file": {"path": "notes.txt"},
    "grep": {"pattern": "x"},
    "glob": {"pattern": "*"},
    "list_files": {"pattern": "*"},
    "write_file": {"path": "new.txt", "content": "x"},
    "edit_file": {"path": "notes.txt", "old_str": "nothing", "new_str": "x"},
    "multi_edit": {"path": "notes.txt", "edits": [{"old_str": "nothing", "new_str": "x"}]},
    "diagnostics": {"path": "src/main.py"},
    "references": {"symbol": "main"},
    "definition": {"symbol": "main"},
    "symbols": {"query": "main"},
    "call_hierarchy": {"symbol": "main", "direction": "incoming"},
    "rename_symbol": {"symbol": "main", "new_name": "start"},
    "replace_symbol": {"symbol": "main", "path": "src/main.py", "action": "delete"},
    "code_action": {"path": "src/main.py", "line": 1, "action": "f1"},
    "bash": {"command": "make"},
    "python": {"code": "1 + 1"},
    "skill": {"name": "review"},
    "web_fetch": {"url": "http://example.com/"},
    "download": {"url": "http://example.com/", "path": "f"},
    "jobs": {},
    "job_output": {"job": 1},
    "job_kill": {"job": 1},
    "todos": {"todos": []},
    "ask_user": {"question": "who?"},
    "datetime": {},
    "wait": {"seconds": 0.01},
    "memory_search": {"query": "x"},
    "agent_spawn": {"prompt": "look"},
    "agent_fork": {"prompt": "look"},
    "agent_status": {"agent_id": "agent-1"},
    "agent_list": {},
    "agent_cancel": {"agent_id": "agent-1"},
    "send_message": {"to": "main", "text": "x"},
}

#                ask      plan     accept-edits  yolo
EXPECTED = {
    "read_file": ("allow", "allow", "allow", "allow"),
    "grep": ("allow", "allow", "allow", "allow"),
    "glob": ("allow", "allow", "allow", "allow"),
    "list_files": ("allow", "allow", "allow", "allow"),
    "write_file": ("ask", "deny", "allow", "allow"),
    "edit_file": ("ask", "deny", "allow", "allow"),
    "multi_edit": ("ask", "deny", "allow", "allow"),
    "diagnostics": ("allow", "allow", "allow", "allow"),
    "references": ("allow", "allow", "allow", "allow"),
    "definition": ("allow", "allow", "allow", "allow"),
    "symbols": ("allow", "allow", "allow", "allow"),
    "call_hierarchy": ("allow", "allow", "allow", "allow"),
    "rename_symbol": ("ask", "deny", "allow", "allow"),
    "replace_symbol": ("ask", "deny", "allow", "allow"),
    "code_action": ("ask", "deny", "allow", "allow"),
    "bash": ("ask", "deny", "ask", "allow"),
    "python": ("ask", "deny", "ask", "allow"),
    "skill": ("allow", "allow", "allow", "allow"),
    "web_fetch": ("ask", "ask", "ask", "allow"),
    "download": ("ask", "deny", "ask", "allow"),
    "jobs": ("allow", "allow", "allow", "allow"),
    "job_output": ("allow", "allow", "allow", "allow"),
    "job_kill": ("allow", "allow", "allow", "allow"),
    "todos": ("allow", "allow", "allow", "allow"),
    "ask_user": ("allow", "allow", "allow", "allow"),
    "datetime": ("allow", "allow", "allow", "allow"),
    "wait": ("allow", "allow", "allow", "allow"),
    "memory_search": ("allow", "allow", "allow", "allow"),
    "agent_spawn": ("allow", "allow", "allow", "allow"),
    "agent_fork": ("allow", "allow", "allow", "allow"),
    "agent_status": ("allow", "allow", "allow", "allow"),
    "agent_list": ("allow", "allow", "allow", "allow"),
    "agent_cancel": ("allow", "allow", "allow", "allow"),
    "send_message": ("allow", "allow", "allow", "allow"),
}
MODES: tuple[Mode, ...] = ("ask", "plan", "accept-edits", "yolo")


@pytest.mark.parametrize("tool", CALLS)
async def test_every_mode_says_what_it_should_about_every_tool(judge_stage: Stage, tool: str):
    said = tuple(judge_stage.check(tool, CALLS[tool], (), mode).action for mode in MODES)

    assert said == EXPECTED[tool]


def test_no_tool_is_missing_in_the_table(judge_stage: Stage):
    assert {spec.name for spec in judge_stage.specs} == set(CALLS) == set(EXPECTED)


@pytest.mark.parametrize("tool", CALLS)
@pytest.mark.parametrize("mode", MODES)
async def test_a_tool_that_is_denied_is_denied_in_every_mode(judge_stage: Stage, tool: str, mode: Mode):
    both = rules(f"allow {tool}", f"deny {tool}")

    assert judge_stage.check(tool, CALLS[tool], both, mode).action == "deny"
    assert judge_stage.check(tool, CALLS[tool], rules("deny *"), mode).action == "deny"


@pytest.mark.parametrize(
    "tool",
    [
        "write_file",
        "edit_file",
        "multi_edit",
        "rename_symbol",
        "replace_symbol",
        "code_action",
        "bash",
        "download",
    ],
)
async def test_no_allow_rule_changes_anything_in_plan_mode(judge_stage: Stage, tool: str):
    assert judge_stage.check(tool, CALLS[tool], rules(f"allow {tool}", "allow *"), "plan").action == "deny"


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
