"""Files that others run: recognised by name, and written only after approval."""

import pytest

from bridle.core.permission import Mode, Rule, judge, suggest_rules
from bridle.core.tool import Access, Subject
from bridle.core.traps import trap_in, with_traps

TRAPS = {
    ".git/config": ".git",
    ".git": ".git",
    "src/.git/hooks/pre-commit": "src/.git",
    ".GIT/config": ".GIT",
    "mirror.git/config": "mirror.git",
    "HEAD": "HEAD",
    "sub/HEAD": "sub/HEAD",
    ".envrc": ".envrc",
    "a/b/.envrc": "a/b/.envrc",
    ".ENVRC": ".ENVRC",
    ".mcp.json": ".mcp.json",
    ".bridle/agents/x.md": ".bridle",
    ".husky/_/pre-commit": ".husky",
    ".idea/workspace.xml": ".idea",
    ".vscode/tasks.json": ".vscode/tasks.json",
    "sub/.vscode/settings.json": "sub/.vscode/settings.json",
    ".zed/tasks.json": ".zed/tasks.json",
    "/elsewhere/.envrc": "/elsewhere/.envrc",
    ".claude/settings.local.json": ".claude/settings.local.json",
    ".hg/hgrc": ".hg/hgrc",
    ".sl/config": ".sl/config",
    ".helix/languages.toml": ".helix/languages.toml",
    ".config/mise/config.toml": ".config/mise",
    ".mise/tasks/x": ".mise",
    "a/x.code-workspace": "a/x.code-workspace",
    ".devcontainer/one/devcontainer.json": ".devcontainer/one/devcontainer.json",
}
HARMLESS = [
    "src/main.py",
    ".gitignore",
    ".github/workflows/ci.yml",
    ".vscode/extensions.json",
    ".env",
    "tasks.json",
    "settings.json",
    "docs/HEAD.md",
    "envrc",
    "idea/x",
    ".hg/store/x",
    ".config/app.toml",
    ".bashrc",
    ".pre-commit-config.yaml",
    ".cargo/config.toml",
    "",
]


@pytest.mark.parametrize(("path", "trap"), TRAPS.items())
def test_a_trap_is_told_by_its_name(path: str, trap: str):
    assert trap_in(path) == trap


@pytest.mark.parametrize("path", HARMLESS)
def test_other_files_are_none(path: str):
    assert trap_in(path) == ""


def write(path: str, tool: str = "write_file") -> Access:
    return Access(tool, "write", (Subject("path", path),))


@pytest.mark.parametrize("tool", ["write_file", "edit_file", "multi_edit", "download", "rename_symbol"])
@pytest.mark.parametrize("path", TRAPS)
def test_accept_edits_asks_before_one_is_written(path: str, tool: str):
    verdict = judge(write(path, tool), [], "accept-edits")

    assert (verdict.action, TRAPS[path] in verdict.why) == ("ask", True)


@pytest.mark.parametrize("path", HARMLESS)
def test_accept_edits_asks_about_nothing_else(path: str):
    assert judge(write(path), [], "accept-edits").action == "allow"


@pytest.mark.parametrize(("mode", "action"), [("ask", "ask"), ("plan", "deny"), ("yolo", "allow")])
def test_the_other_modes_are_as_ever(mode: Mode, action: str):
    assert judge(write(".envrc"), [], mode).action == action


def test_a_redirection_of_a_command_is_asked_about_as_well():
    access = Access(
        "bash", "read", (Subject("command", "echo x"), Subject("path", ".envrc", "write", "write_file"))
    )

    assert judge(access, [], "accept-edits").action == "ask"


def test_reading_one_is_free():
    assert (
        judge(Access("read_file", "read", (Subject("path", ".envrc"),)), [], "accept-edits").action == "allow"
    )


def test_a_rule_of_the_user_decides():
    rules = [Rule("allow", "write_file", ".vscode/**")]

    assert judge(write(".vscode/tasks.json"), rules, "accept-edits").action == "allow"


def test_no_general_rule_is_suggested_for_one():
    assert suggest_rules(write(".envrc"), [], "accept-edits") == ()
    assert suggest_rules(write("notes.txt"), [], "ask") == ("write_file(*)",)


def test_a_place_that_was_found_on_the_disk_is_asked_about():
    access = with_traps(write("hk/post-commit"), {"hk/post-commit": "/p/hk"}.__getitem__)

    assert judge(access, [], "accept-edits").action == "ask"
    assert "/p/hk can make other programs run code" in judge(access, [], "accept-edits").why
    assert suggest_rules(access, [], "ask") == ()


def test_only_what_is_written_is_looked_for():
    access = Access(
        "bash", "read", (Subject("command", "cat"), Subject("path", "a"), Subject("path", "b", "write"))
    )

    assert [one.trap for one in with_traps(access, lambda path: f"at {path}").subjects] == ["", "", "at b"]
