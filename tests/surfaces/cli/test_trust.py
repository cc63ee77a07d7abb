import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done


@pytest.fixture
def project(bridle: Bridle) -> Path:
    folder = bridle.project / ".bridle"
    (folder / "agents" / "coder").mkdir(parents=True)
    (folder / "config.toml").write_text('[rules]\nmode = "yolo"\ndeny = ["bash"]\n')
    (folder / "agents" / "coder" / "config.toml").write_text('[rules]\nallow = ["edit_file"]\n')
    return bridle.project


def shown(project: Path) -> str:
    return (
        f"{project} wants to set:\n"
        '  .bridle/config.toml:2  rules.mode = "yolo"\n'
        "      a project may only choose a stricter mode than yours\n"
        '  .bridle/agents/coder/config.toml:2  rules.allow = ["edit_file"]\n'
        "      a project may not allow anything\n"
    )


def test_a_project_is_shown_and_trusted_after_a_yes(bridle: Bridle, project: Path):
    with bridle.terminal("trust") as terminal:
        terminal.expect(f"{shown(project)}trust these settings? [y/N] ")
        terminal.send("y\n")
        code = terminal.finish()

    assert (code, terminal.screen.splitlines()[-1]) == (0, f"{project} is trusted until its files change")
    assert bridle("config", "get", "rules.mode") == Done(0, "yolo\n", "")


def test_anything_but_yes_changes_nothing(bridle: Bridle, project: Path):
    with bridle.terminal("trust") as terminal:
        terminal.expect("[y/N] ")
        terminal.send("\n")
        code = terminal.finish()

    assert (code, terminal.screen.splitlines()[-1]) == (0, "nothing was changed")
    assert not (bridle.home / "trust.json").exists()


def test_without_a_terminal_a_flag_is_needed(bridle: Bridle, project: Path):
    asked = bridle("trust")
    told = bridle("trust", "--yes", str(project / ".bridle"), cwd=bridle.home.parent)

    assert asked == Done(
        64,
        shown(project),
        "error: trusting needs confirmation\nhint: review it, then run bridle trust --yes\n",
    )
    assert told == Done(0, shown(project), "")
    assert bridle("config", "get", "rules.mode") == Done(0, "yolo\n", "")


def test_a_changed_project_is_inert_and_says_so(bridle: Bridle, project: Path):
    bridle("trust", "--yes")
    with (project / ".bridle" / "config.toml").open("a") as file:
        file.write("\n")

    done = bridle("config", "get", "rules.mode")

    assert done == Done(
        0,
        "ask\n",
        "warning: this project has changed since you trusted it: ignored rules.mode "
        "(hint: review and allow them with bridle trust)\n",
    )
    assert bridle("trust", "--list").out == f"{project}  (changed)\n"


def test_trusted_projects_are_listed_and_trust_is_taken_back(bridle: Bridle, project: Path):
    nothing = bridle("trust", "--list")
    bridle("trust", "--yes")
    listed = bridle("trust", "--list"), json.loads(bridle("trust", "--list", "--json").out)
    revoked = [bridle("trust", "--revoke"), bridle("trust", "--revoke", str(project))]

    assert nothing == Done(0, "", "no project is trusted\n")
    assert listed == (Done(0, f"{project}\n", ""), [{"project": str(project), "state": "as it was"}])
    assert revoked == [
        Done(0, "", ""),
        Done(1, "", f"error: {project} is not trusted\nhint: bridle trust --list\n"),
    ]


def test_a_project_that_is_gone_can_be_forgotten(bridle: Bridle, project: Path):
    bridle("trust", "--yes")
    moved = project.with_name("moved")
    project.rename(moved)

    listed = bridle("trust", "--list", cwd=moved)
    revoked = bridle("trust", "--revoke", str(project), cwd=moved)

    assert listed.out == f"{project}  (gone)\n"
    assert (revoked.code, bridle("trust", "--list", cwd=moved).out) == (0, "")


def test_a_harmless_project_needs_no_trust(bridle: Bridle, project: Path):
    (project / ".bridle" / "config.toml").write_text('[rules]\ndeny = ["bash"]\n')
    (project / ".bridle" / "agents" / "coder" / "config.toml").unlink()

    told = f"nothing in {project} needs your trust\n"
    hint = "hint: bridle trust --yes allows the language servers that are part of it\n"
    assert bridle("trust") == Done(0, "", told + hint)
    assert not (bridle.home / "trust.json").exists()


def test_outside_of_a_project_there_is_nothing_to_trust(bridle: Bridle):
    error = f"error: {bridle.project} is not in a project\n"
    hint = "hint: a project is a repository, or has a folder .bridle with its settings\n"
    assert bridle("trust", "--yes") == Done(64, "", error + hint)


def test_a_repository_without_settings_can_be_trusted(bridle: Bridle):
    """So that the language servers that lie in it may run."""
    (bridle.project / ".git").mkdir()

    done = bridle("trust", "--yes")
    listed = bridle("trust", "--list").out
    (bridle.project / ".mcp.json").write_text("{}")

    assert done == Done(0, "", f"nothing in {bridle.project} needs your trust\n")
    assert listed == f"{bridle.project}\n"
    assert bridle("trust", "--list").out == f"{bridle.project}  (changed)\n"


def test_servers_of_a_project_are_shown_and_trusted(bridle: Bridle):
    """The arguments and variables of its program are shown, except possible secrets."""
    server = {
        "command": "./serve",
        "args": ["-x"],
        "env": {"LD_PRELOAD": "evil.so", "TOKEN": "abc", "KEY": "${KEY}"},
    }
    remote = {"type": "sse", "url": "https://h/x?key=1", "headers": {"X": "abc", "Y": "Bearer ${Y}"}}
    (bridle.project / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"a": server, "b": remote}}, indent=1)
    )

    asked = bridle("trust")
    told = bridle("trust", "--yes")

    why = "      a project may not start or use its own servers\n"
    assert (
        asked.out
        == told.out
        == (
            f"{bridle.project} wants to set:\n"
            '  .mcp.json:3  mcp.servers.a = { command = "./serve", args = ["-x"], '
            'env = { LD_PRELOAD = "evil.so", TOKEN = "(hidden)", KEY = "${KEY}" } }\n'
            f"{why}"
            '  .mcp.json:14  mcp.servers.b = { url = "https://h/x?(hidden)", '
            'headers = { X = "(hidden)", Y = "Bearer ${Y}" }, transport = "sse" }\n'
            f"{why}"
        )
    )
    assert (asked.code, told.code) == (64, 0)
    assert [one["state"] for one in json.loads(bridle("mcp", "list", "--json", KEY="k", Y="y").out)] == [
        "missing",
        "on",
    ]
