"""`bridle import claude|codex|crush`, and its results."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.stores.foreign.samples import (
    CLAUDE_ID,
    CODEX_ID,
    CRUSH_ID,
    KEY,
    claude_folder,
    codex_folder,
    crush_project,
    lines,
    said,
)
from tests.stores.test_kontekst_reader import ID, WRITTEN, line
from tests.surfaces.command import Bridle, Done


@pytest.fixture
def user(bridle: Bridle) -> Path:
    """Return the home folder of a user, with what three programs have left in it."""
    folder = Path(bridle.env["HOME"])
    claude_folder(folder, str(bridle.project))
    codex_folder(folder, str(folder / "gone"))
    crush_project(bridle.project)
    return folder


def table(done: Done) -> dict[str, list[str]]:
    """Return the counts of a report by kind."""
    rows = [line.split() for line in done.out.splitlines() if not line.startswith((" ", "KIND", "dry run"))]
    return {row[0]: row[1:4] for row in rows}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


CLAUDE = {
    "agents": ["1", "0", "0"],
    "skills": ["2", "1", "0"],
    "sessions": ["1", "0", "1"],
    "rules": ["7", "0", "2"],
    "servers": ["2", "0", "2"],
    "hooks": ["1", "0", "0"],
    "settings": ["0", "0", "2"],
}


def test_claude_comes_once_and_without_its_secrets(bridle: Bridle, user: Path):
    before = tree(user / ".claude")
    dry = bridle("import", "claude", "--dry-run")
    assert (table(dry), dry.code, bridle.sessions()) == (CLAUDE, 0, [])
    assert not (bridle.home / "config.toml").exists()

    first = bridle("import", "claude", API_KEY="set")
    after = (
        tree(bridle.home / "skills")
        | tree(bridle.home / "agents")
        | {"c": (bridle.home / "config.toml").read_bytes()}
    )
    again = bridle("import", "claude")

    assert (table(first), first.code, first.err) == (CLAUDE, 0, "")
    assert "  server files: set ALREADY_SET, DB, FILES_API_KEY, FILES_TOKEN\n" in first.out
    assert {kind: counts[:2] for kind, counts in table(again).items()} == {
        "agents": ["0", "1"],
        "skills": ["0", "3"],
        "sessions": ["0", "1"],
        "rules": ["0", "7"],
        "servers": ["0", "2"],
        "hooks": ["0", "1"],
        "settings": ["0", "0"],
    }
    assert after == tree(bridle.home / "skills") | tree(bridle.home / "agents") | {
        "c": (bridle.home / "config.toml").read_bytes()
    }
    assert tree(user / ".claude") == before
    assert not [path for path, data in tree(bridle.home).items() if KEY.encode() in data]
    assert KEY not in first.out
    for check in (("skills", "check"), ("agents", "check"), ("config", "show")):
        assert bridle(*check).code == 0, check


def test_a_session_verifies_can_be_read_and_goes_on(bridle: Bridle, user: Path):
    bridle("import", "claude", "--only", "session")
    session = f"claude-{CLAUDE_ID}"

    assert [(one["id"], one["title"], one["cwd"]) for one in bridle.sessions()] == [
        (session, "Fixing the adder", str(bridle.project))
    ]
    assert bridle("session", "verify", session).out.split()[:2] == [session, "ok"]
    assert "It subtracts." in bridle("session", "export", session, "--format", "md").out
    model = bridle.script({"text": "{last_user}"}, repeat=True)
    assert bridle("run", "--session", session, "--model", model, "and now") == Done(0, "and now\n", "")
    assert bridle("session", "verify", session).code == 0
    assert not (bridle.home / "config.toml").exists()


def test_a_session_that_has_grown_is_told_and_left_alone(bridle: Bridle, user: Path):
    bridle("import", "claude", "--only", "session")
    file = user / ".claude/projects/-p" / f"{CLAUDE_ID}.jsonl"
    file.write_bytes(file.read_bytes() + lines(said("u9", "a7", "one more")))

    again = bridle("import", "claude", "--only", "session")

    assert (
        f"  session claude-{CLAUDE_ID}: already there: 1 message came there since, and stay there\n"
        in again.out
    )


def test_what_was_removed_here_does_not_come_back(bridle: Bridle, user: Path):
    bridle("import", "claude", "--only", "rule")
    bridle("rules", "remove", "--ask", "bash(git push:*)")

    bridle("import", "claude")

    assert "git push" not in bridle("rules", "list").out


def test_what_is_there_is_not_overwritten(bridle: Bridle, user: Path):
    (bridle.home / "skills").mkdir()
    (bridle.home / "skills/explain.md").write_text("mine")
    (bridle.home / "agents/critic").mkdir(parents=True)
    (bridle.home / "agents/critic/agent.md").write_text("mine")
    (bridle.home / "config.toml").write_text('[mcp.servers.github]\ncommand = "mine"\n')

    done = bridle("import", "claude")

    assert table(done)["skills"] == ["1", "2", "0"]
    assert table(done)["agents"] == ["0", "1", "0"]
    assert table(done)["servers"] == ["1", "1", "2"]
    assert (bridle.home / "skills/explain.md").read_text() == "mine"
    assert (bridle.home / "agents/critic/agent.md").read_text() == "mine"
    assert (bridle.home / "config.toml").read_text().startswith('[mcp.servers.github]\ncommand = "mine"\n')


def test_codex(bridle: Bridle, user: Path):
    done = bridle("import", "codex")

    assert (done.code, done.err) == (0, "")
    assert table(done) == {
        "agents": ["1", "0", "0"],
        "skills": ["2", "0", "0"],
        "sessions": ["1", "0", "0"],
        "rules": ["2", "0", "1"],
        "servers": ["2", "0", "0"],
        "settings": ["0", "0", "2"],
    }
    assert [(one["id"], one["cwd"]) for one in bridle.sessions()] == [
        (f"codex-{CODEX_ID}", str(bridle.project))
    ]
    assert not [path for path, data in tree(bridle.home).items() if KEY.encode() in data]
    for check in (("skills", "check"), ("agents", "check"), ("config", "show"), ("session", "verify")):
        assert bridle(*check).code == 0, check


def test_crush(bridle: Bridle, user: Path):
    own = user / ".config/crush"
    (own / "skills/sums").mkdir(parents=True)
    (own / "skills/sums/SKILL.md").write_text("---\nname: sums\ndescription: Sums\n---\nAdd.\n")
    (own / "crushrc").write_text("mcp add x\n")
    (bridle.project / "crush.json").rename(own / "crush.json")

    done = bridle("import", "crush")

    assert (done.code, done.err) == (0, "")
    assert table(done) == {
        "skills": ["1", "0", "0"],
        "sessions": ["1", "0", "0"],
        "rules": ["4", "0", "2"],
        "servers": ["1", "0", "0"],
        "settings": ["0", "0", "1"],
    }
    [session] = bridle.sessions()
    assert session["id"] == f"crush-{CRUSH_ID}"
    assert (session["created_at"], session["updated_at"]) == (1768701688000, 1768701691000)
    assert not [path for path, data in tree(bridle.home).items() if KEY.encode() in data]


def test_a_project_of_crush_brings_no_programs_and_allows_nothing(bridle: Bridle, user: Path):
    (bridle.project / "crush.json").write_text(
        json.dumps(
            {
                "mcp": {"evil": {"type": "stdio", "command": "./evil.sh"}},
                "permissions": {"allowed_tools": ["edit"]},
                "lsp": {"evil": {"command": "./evil.sh", "filetypes": ["go"]}},
                "options": {"disabled_tools": ["bash"]},
            }
        )
    )
    (user / "skills/told").mkdir(parents=True)
    (user / "skills/told/SKILL.md").write_text("---\nname: told\ndescription: Mine\n---\nMine.\n")
    (bridle.project / "skills").symlink_to(user / "skills")

    done = bridle("import", "crush")

    assert table(done)["rules"] == ["1", "0", "1"]
    assert table(done)["servers"] == ["0", "0", "1"]
    assert table(done)["settings"] == ["0", "0", "1"]
    assert "skills" not in table(done)
    assert "evil" not in (bridle.home / "config.toml").read_text()


def test_models_and_language_servers_of_crush(bridle: Bridle, user: Path):
    state = user / ".local/share/crush/crush.json"
    state.parent.mkdir(parents=True)
    chosen = {"provider": "anthropic", "model": "claude-sonnet-5", "think": True}
    state.write_text(json.dumps({"models": {"large": chosen}}))
    gopls = {"command": "gopls", "args": ["-v"], "filetypes": ["go", ".mod"], "env": {"A": "1", "B": "$HOME"}}
    own = user / ".config/crush/crush.json"
    own.parent.mkdir(parents=True)
    own.write_text(
        json.dumps(
            {
                "models": {
                    "large": {"provider": "openai", "model": "gpt-5"},
                    "small": {"provider": "acme", "model": "tiny"},
                },
                "lsp": {"gopls": gopls, "odd": {"command": "$(which odd)"}, "off": {"disabled": True}},
                "options": {"disable_auto_summarize": True, "debug": True},
                "providers": {"acme": {"base_url": "https://acme.example"}},
            }
        )
    )

    planned = bridle("import", "crush", "--only", "setting", "--dry-run")
    done = bridle("import", "crush", "--only", "setting")
    again = bridle("import", "crush", "--only", "setting")

    assert (table(planned), table(done)) == ({"settings": ["4", "0", "5"]},) * 2
    assert table(again) == {"settings": ["0", "4", "5"]}
    assert tomllib.loads((bridle.home / "config.toml").read_text()) == {
        "model": "anthropic/claude-sonnet-5",
        "compaction": {"auto": False},
        "lsp": {
            "servers": {
                "gopls": {"command": ["gopls", "-v"], "extensions": [".go", ".mod"], "env": {"A": "1"}},
                "off": {"enabled": False},
            }
        },
    }
    for told in (
        "setting model: without think",
        "setting lsp.servers.gopls: without env B",
        "setting small_model: left out: acme/tiny: no provider is named acme; set providers.acme, then: ",
        "setting lsp.odd: left out: a shell would compute its command",
        "setting options.debug: left out: it is not imported",
        "setting providers: left out: add them with bridle config set providers.NAME.base_url",
    ):
        assert f"  {told}" in done.out


def test_as_json_only_some_and_elsewhere(bridle: Bridle, user: Path):
    done = bridle("import", "codex", str(user / ".codex"), "--json", "--only", "session", "--cwd", str(user))

    assert json.loads(done.out) == [
        {
            "kind": "session",
            "name": f"codex-{CODEX_ID}",
            "messages": 9,
            "skipped": {"what Codex says itself": 2},
        }
    ]
    assert bridle.sessions()[0]["cwd"] == str(user)


def test_on_a_terminal_it_asks_first(bridle: Bridle, user: Path):
    with bridle.terminal("import", "claude") as terminal:
        terminal.expect("import this? [y/N]")
        terminal.send("n\n")
        assert terminal.finish() == 0
    assert bridle.sessions() == []

    with bridle.terminal("import", "claude") as terminal:
        terminal.expect("import this? [y/N]")
        terminal.send("y\n")
        assert terminal.finish() == 0
    assert len(bridle.sessions()) == 1


def test_what_is_broken_is_left_out_and_the_rest_comes(bridle: Bridle, user: Path):
    folder = user / ".claude"
    (folder / "settings.json").write_text("{")
    (user / ".claude.json").write_text("[]")
    (folder / "commands/bad.md").write_bytes(b"\xff\xfe")
    (folder / "commands/link.md").symlink_to("/etc/passwd")
    (folder / "agents/no name.md").write_text("x")
    project = folder / "projects/-p"
    (project / "half.jsonl").write_bytes(b'{"type":"user","message":{"content":"\\ud800 half"}}\n')
    (project / "..up.jsonl").write_bytes(lines(said("u", None, "hi")))
    (project / "link.jsonl").symlink_to("/etc/passwd")

    done = bridle("import", "claude", "--json")

    assert (done.code, done.err) == (0, "")
    told = {(one["kind"], one["name"]): one.get("outcome", "imported") for one in json.loads(done.out)}
    assert told == {
        ("setting", "settings.json"): "left out",
        ("server", ".claude.json"): "left out",
        ("skill", "bad"): "left out",
        ("skill", "explain"): "imported",
        ("skill", "git-tidy"): "imported",
        ("skill", "pdf"): "already there",
        ("agent", "critic"): "imported",
        ("agent", "no name"): "left out",
        ("hook", "settings.json"): "left out",
        ("session", f"claude-{CLAUDE_ID}"): "imported",
        ("session", "claude-00000000-0000-4000-8000-000000000000"): "left out",
        ("session", "claude-half"): "left out",
        ("session", "..up"): "left out",
    }


def test_settings_of_meerkat(bridle: Bridle, user: Path):
    (user / ".config/meerkat").mkdir(parents=True)
    (user / ".config/meerkat/config.toml").write_text('max_tokens = 4096\n[agent]\nmodel = "gpt-5"\n')
    (bridle.project / "rkat.toml").write_text(
        '[agent]\nmodel = "claude-opus-4-6"\ntemperature = 0.7\n[budget]\nmax_duration = "30m"\n'
    )

    planned = bridle("import", "meerkat", "--dry-run")
    done = bridle("import", "meerkat")
    again = bridle("import", "meerkat")

    assert (table(planned), table(done)) == ({"settings": ["3", "0", "2"]},) * 2
    assert table(again) == {"settings": ["0", "3", "2"]}
    assert "  setting agent.temperature: left out: parameters belong to an agent or a provider" in done.out
    assert tomllib.loads((bridle.home / "config.toml").read_text()) == {
        "model": "anthropic/claude-opus-4-6",
        "max_output_tokens": 4096,
        "limits": {"max_duration": "30m"},
    }
    assert bridle("config", "show").code == 0


@pytest.mark.parametrize(
    ("program", "title"),
    [("claude", "Claude Code"), ("codex", "the Codex CLI"), ("crush", "Crush"), ("meerkat", "Meerkat")],
)
def test_a_folder_that_is_something_else(bridle: Bridle, program: str, title: str):
    done = bridle("import", program, "nowhere")

    assert done.code == 64
    assert done.err.startswith(f"error: {bridle.project}/nowhere is not a folder of {title}: it has no ")


# ---------------------------------------------------------------------------- Kontekst


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Give a data directory as Kontekst leaves it."""
    folder = tmp_path / "kontekst"
    (folder / "sessions").mkdir(parents=True)
    (folder / "sessions" / f"{ID}.jsonl").write_bytes(WRITTEN + b"garbage\n")
    (folder / "sessions" / f"{ID}.meta.json").write_bytes(b'{"default_agent":"default"}')
    (folder / "sessions" / "empty.jsonl").touch()
    (folder / "sessions" / "..evil.jsonl").write_bytes(WRITTEN)
    (folder / "agents/default").mkdir(parents=True)
    (folder / "agents/default/agent.md").write_text("Be kind.")
    (folder / "skills").mkdir()
    (folder / "skills/short.md").write_text("Be short.")
    (folder / "active_session").write_text(ID)
    return folder


SUMMARY = f"""\
agents    1 imported
skills    1 imported
sessions  1 imported, 2 left out, 4 messages
  session empty: it has no messages
  session ..evil: its name is not valid for a session
  session {ID}: 1 line left out: not a line of JSON as Kontekst writes it
"""


def test_it_comes_once(bridle: Bridle, data: Path):
    dry = bridle("import", "kontekst", str(data), "--dry-run")
    assert sorted(dry.out.splitlines()) == sorted(["dry run: nothing was changed", *SUMMARY.splitlines()])
    assert bridle.sessions() == []

    first = bridle("import", "kontekst", str(data))
    shown = bridle("session", "show", ID, "--json")
    again = bridle("import", "kontekst", str(data))

    assert sorted(first.out.splitlines()) == sorted(SUMMARY.splitlines())
    assert (first.code, first.err, again.code) == (0, "", 0)
    assert again.out.splitlines()[:3] == [
        "agents    1 already there",
        "skills    1 already there",
        "sessions  1 already there, 2 left out",
    ]
    assert [(one["id"], one["agent"], one["cwd"]) for one in bridle.sessions()] == [
        (ID, "kontekst", str(bridle.project))
    ]
    assert [message["role"] for message in json.loads(shown.out)["messages"]] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert bridle("session", "show", ID, "--json").out == shown.out


def test_a_session_is_as_old_as_its_file(bridle: Bridle, data: Path):
    os.utime(data / "sessions" / f"{ID}.jsonl", (1768701688, 1768701688))

    bridle("import", "kontekst", str(data))

    [session] = bridle.sessions()
    assert (session["created_at"], session["updated_at"]) == (1768701688000, 1768701688000)


def test_a_session_goes_on_where_it_came_to(bridle: Bridle, data: Path):
    bridle("import", "kontekst", str(data))

    done = bridle(
        "run", "--continue", "--model", bridle.script({"text": "{last_user}"}, repeat=True), "and now"
    )

    assert done == Done(0, "and now\n", "")
    assert bridle.sessions()[0]["id"] == ID


def test_as_json(bridle: Bridle, data: Path):
    done = bridle("import", "kontekst", str(data), "--json", "--cwd", str(data))

    told = {(one["kind"], one["name"]): one for one in json.loads(done.out)}
    assert told["session", ID] == {
        "kind": "session",
        "name": ID,
        "messages": 4,
        "skipped": {"not a line of JSON as Kontekst writes it": 1},
    }
    assert bridle.sessions()[0]["cwd"] == str(data)


def test_commands_are_left_out_and_said_to_be(bridle: Bridle, data: Path):
    (data / "commands").mkdir()

    assert bridle("import", "kontekst", str(data)).err == (
        "warning: commands are skipped: Bridle has none; a skill can say what to run\n"
    )


def test_a_folder_that_is_no_kontekst_folder(bridle: Bridle):
    assert bridle("import", "kontekst", "nowhere") == Done(
        64,
        "",
        "error: nowhere is not a data directory of Kontekst: it has no agents, skills, sessions\n"
        "hint: it is usually ~/.kontekst\n",
    )


def test_a_home_that_lies_beside_it_needs_no_import(bridle: Bridle, data: Path):
    (data / "config.toml").write_text(f'data_dir = "{data}"\n')
    (data / "bridle").mkdir()
    (data / "bridle/kontekst").write_text(str(data / "config.toml"))

    done = bridle("import", "kontekst", str(data), BRIDLE_HOME=str(data / "bridle"))

    assert done == Done(64, "", f"error: {data}/bridle lies beside {data} and uses it already\n")


def test_runs_in_a_home_beside_it_are_seen_by_kontekst(bridle: Bridle, data: Path):
    (data / "config.toml").write_text(f'data_dir = "{data}"\n')
    (data / "bridle").mkdir()
    (data / "bridle/kontekst").write_text(str(data / "config.toml"))
    file = data / "sessions" / f"{ID}.jsonl"
    file.write_bytes(line("user", "hi"))

    model = bridle.script({"text": "<ok>"})
    done = bridle("run", "--session", ID, "--model", model, "go on", BRIDLE_HOME=str(data / "bridle"))

    assert done == Done(0, "<ok>\n", "")
    assert [json.loads(one)["content"] for one in file.read_bytes().splitlines()] == ["hi", "go on", "<ok>"]
    assert b'"content":"\\u003cok\\u003e"' in file.read_bytes()
    assert (data / "active_session").read_text() == ID
