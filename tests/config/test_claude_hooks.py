import json
from pathlib import Path
from typing import Any

import pytest

from bridle.config.claude_hooks import ClaudeHooks, add_hooks, read_claude_hooks
from bridle.config.settings import load_settings
from bridle.core.errors import ConfigError
from bridle.core.hook import CommandRuntime, HookEntry


def read(folder: Path, hooks: Any) -> ClaudeHooks:
    file = folder / "settings.json"
    file.write_text(json.dumps({"model": "opus", "hooks": hooks}))
    return read_claude_hooks(file)


def group(matcher: str | None, *commands: str, **more: Any) -> dict[str, Any]:
    hooks = [{"type": "command", "command": command, **more} for command in commands]
    return {"hooks": hooks} if matcher is None else {"matcher": matcher, "hooks": hooks}


def entry(id: str, command: str, **more: Any) -> HookEntry:  # noqa: A002 - as the key is called
    runtime = CommandRuntime("/bin/sh", ("-c", command), dialect="claude")
    return HookEntry(runtime, **{"id": id, "timeout_ms": 60_000, **more})


def test_command_hooks_become_ours(tmp_path: Path):
    found = read(
        tmp_path,
        {
            "PreToolUse": [group("Bash", "guard.sh", timeout=5), group("Edit|Write|NotebookEdit", "a", "b")],
            "PostToolUse": [group("*", "fmt")],
            "UserPromptSubmit": [group(None, "log")],
            "Stop": [group(None, "bell", **{"async": True})],
        },
    )

    pre = {"point": "pre_tool_execution", "capability": "rewrite"}
    assert found == ClaudeHooks(
        (
            entry("claude-pre-tool-use-1", "guard.sh", **pre, timeout_ms=5000, tools=("bash",)),
            entry("claude-pre-tool-use-2", "a", **pre, tools=("edit_file", "write_file")),
            entry("claude-pre-tool-use-3", "b", **pre, tools=("edit_file", "write_file")),
            entry(
                "claude-post-tool-use-4",
                "fmt",
                point="post_tool_execution",
                capability="guardrail",
                failure_policy="fail_open",
            ),
            entry("claude-user-prompt-submit-5", "log", point="run_started", capability="guardrail"),
            entry("claude-stop-6", "bell", point="run_completed", mode="background"),
        ),
        (),
    )


def test_a_hook_that_is_not_waited_for_only_looks(tmp_path: Path):
    found = read(tmp_path, {"PreToolUse": [group("Bash", "log", **{"async": True})]})

    assert found.entries == (
        entry("claude-pre-tool-use-1", "log", point="pre_tool_execution", mode="background", tools=("bash",)),
    )


@pytest.mark.parametrize(
    ("matcher", "tools"),
    [
        ("", ()),
        ("*", ()),
        (".*", ()),
        ("Task|Read | Grep|Glob", ("agent_spawn", "read_file", "grep", "glob")),
        ("WebFetch|MultiEdit|LS", ("web_fetch", "multi_edit", "list_files")),
        ("mcp__git__push", ("mcp__git__push",)),
        ("mcp__git__.*|Bash", ("mcp__git__*", "bash")),
    ],
)
def test_matchers_become_names_of_our_tools(tmp_path: Path, matcher: str, tools: tuple[str, ...]):
    assert [one.tools for one in read(tmp_path, {"PreToolUse": [group(matcher, "x")]}).entries] == [tools]


@pytest.mark.parametrize(
    ("hooks", "reason"),
    [
        ({"SessionStart": [group(None, "x")]}, "SessionStart: unknown hook point"),
        ({"PreToolUse": [group("NotebookEdit", "x")]}, 'PreToolUse: unknown tool "NotebookEdit"'),
        ({"PreToolUse": [group("^(Bash)$", "x")]}, 'PreToolUse: unknown tool "^(Bash)$"'),
        ({"PreToolUse": [{"matcher": 5, "hooks": [{}]}]}, "PreToolUse: unknown tool 5"),
        (
            {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]},
            "Stop: only hooks of type command can be used",
        ),
        ({"Stop": [{"hooks": ["x"]}]}, "Stop: only hooks of type command can be used"),
        ({"Stop": [group(None, " ")]}, "Stop: has no command"),
        ({"Stop": [group(None, "a\0b")]}, "Stop: has no command"),
        ({"Stop": [{"hooks": "x"}]}, "Stop: not a list of hooks"),
        ({"Stop": "x"}, "Stop: not a list of hooks"),
    ],
)
def test_what_cannot_be_a_hook_here_is_named(tmp_path: Path, hooks: Any, reason: str):
    assert read(tmp_path, hooks) == ClaudeHooks((), (reason,))


@pytest.mark.parametrize(
    ("timeout", "timeout_ms"), [(0.5, 500), (0, 60_000), ("5", 60_000), (True, 60_000), (10**6, 600_000)]
)
def test_times_are_kept_within_bounds(tmp_path: Path, timeout: Any, timeout_ms: int):
    found = read(tmp_path, {"Stop": [group(None, "x", timeout=timeout)]})

    assert [one.timeout_ms for one in found.entries] == [timeout_ms]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "file not found"),
        ("{", "not valid JSON: "),
        ("[]", "contains no hooks"),
        ("{}", "contains no hooks"),
        ('{"hooks": []}', "contains no hooks"),
        ("[" * 100_000, "not valid JSON: "),
    ],
    ids=range(6),
)
def test_a_file_that_is_none_is_an_error(tmp_path: Path, text: str | None, reason: str):
    file = tmp_path / "settings.json"
    if text is not None:
        file.write_text(text)

    with pytest.raises(ConfigError) as caught:
        read_claude_hooks(file)

    assert caught.value.message.startswith(f"{file}: {reason}")


# ---------------------------------------------------------------------------- adding

GUARD = entry(
    "guard", "echo \"hi\" | jq '.a'\n", point="pre_tool_execution", capability="rewrite", tools=("bash",)
)
BELL = entry("bell", "bell", point="run_completed", mode="background")


def loaded(folder: Path) -> tuple[HookEntry, ...]:
    return load_settings({"HOME": str(folder), "BRIDLE_HOME": str(folder)}, folder).hooks.entries


def test_hooks_are_added_behind_what_is_there(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("# mine\n[limits]\nmax_turns = 3 # few")

    assert add_hooks(file, [GUARD, BELL]) == (GUARD, BELL)
    assert loaded(tmp_path) == (GUARD, BELL)
    assert file.read_text() == (
        "# mine\n[limits]\nmax_turns = 3 # few\n\n"
        "[[hooks.entries]]\n"
        'id = "guard"\n'
        'point = "pre_tool_execution"\n'
        'capability = "rewrite"\n'
        "timeout_ms = 60000\n"
        'tools = ["bash"]\n'
        'runtime = { type = "command", command = "/bin/sh", args = ["-c", "echo \\"hi\\" | jq \'.a\'\\n"],'
        ' dialect = "claude" }\n\n'
        "[[hooks.entries]]\n"
        'id = "bell"\n'
        'point = "run_completed"\n'
        'mode = "background"\n'
        "timeout_ms = 60000\n"
        'runtime = { type = "command", command = "/bin/sh", args = ["-c", "bell"], dialect = "claude" }\n'
    )


def test_a_file_is_made_if_need_be(tmp_path: Path):
    add_hooks(tmp_path / "config.toml", [BELL])

    assert loaded(tmp_path) == (BELL,)


def test_what_is_there_already_is_not_added_again(tmp_path: Path):
    file = tmp_path / "config.toml"
    add_hooks(file, [BELL])
    before = file.read_text()

    assert add_hooks(file, [entry("other", "bell", point="run_completed", mode="background")]) == ()
    assert file.read_text() == before
    assert add_hooks(file, [GUARD, BELL]) == (GUARD,)


def test_an_id_that_is_taken_gets_a_number(tmp_path: Path):
    file = tmp_path / "config.toml"
    add_hooks(file, [entry("a", "1")])

    added = add_hooks(file, [entry("a", "2"), entry("a", "3"), entry("b", "4")], known={"b"})

    assert [one.id for one in added] == ["a-2", "a-3", "b-2"]
    assert [one.id for one in loaded(tmp_path)] == ["a", "a-2", "a-3", "b-2"]


@pytest.mark.parametrize(
    "text", ["hooks.entries = []", "hooks = { payload_max_bytes = 5 }", "[hooks]\nentries = []"]
)
def test_a_text_that_cannot_take_them_stays_as_it_is(tmp_path: Path, text: str):
    file = tmp_path / "config.toml"
    file.write_text(text)

    with pytest.raises(ConfigError, match="cannot be added"):
        add_hooks(file, [BELL])
    assert file.read_text() == text


def test_a_text_that_is_wrong_stays_as_it_is(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("x = 1")

    with pytest.raises(ConfigError, match="unknown key x"):
        add_hooks(file, [BELL])
    assert file.read_text() == "x = 1"
