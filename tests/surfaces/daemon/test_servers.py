"""Servers of a real daemon: shared by its sessions, visible to its clients, and gone with it."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    Prompt,
    Rewind,
    RunOptions,
    ToolFinished,
)
from bridle.core.queries import Records, ServerPrompts, Servers
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.node_servers import PACKAGES, node, script
from tests.surfaces.daemon.process import DaemonProcess, descendants, seen, until_gone

EVERYTHING = script("@modelcontextprotocol/server-everything")
TSSERVER = PACKAGES / "typescript" / "lib" / "tsserver.js"
CONFIG = f"""
[rules]
allow = ["mcp__*"]

[mcp.servers.all]
command = {json.dumps(node())}
args = [{json.dumps(EVERYTHING)}]

[mcp.servers.clock]
command = {json.dumps(str(Path(sys.executable).parent / "mcp-server-time"))}
scope = "user"
"""
ECHO = {"calls": [{"name": "mcp__all__echo", "args": {"message": "hello"}}]}
LOOK = {"calls": [{"name": "diagnostics", "args": {"path": "a.py"}}]}
DONE = {"text": "done"}


@pytest.fixture
def daemon(home: Path, env: dict[str, str]) -> Iterator[DaemonProcess]:
    """Yield a daemon with servers, and with language servers on its PATH."""
    (home / "config.toml").write_text(CONFIG)
    programs = str(Path(sys.executable).parent)
    made = DaemonProcess(home, {**env, "PATH": os.pathsep.join([programs, env["PATH"]])})
    yield made
    made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("total: int = 'three'\n")
    return project


async def play(
    client: RemoteService, session: SessionId, tmp_path: Path, *replies: dict[str, Any]
) -> list[str]:
    """Run a script, and return what its calls gave back."""
    path = tmp_path / f"{session}.json"
    path.write_text(json.dumps({"replies": replies}))
    receipt = await client.submit(session, Prompt(user_message("go"), RunOptions(model=f"scripted/{path}")))
    assert receipt.run_id is not None
    ended = await wait_for_run(client, session, receipt.run_id, receipt.seq)
    assert ended.outcome == "completed", ended.reason
    records = await client.ask(Records(session))
    return [one.event.result.output for one in records if isinstance(one.event, ToolFinished)]


def programs_below(pid: int) -> dict[str, int]:
    """Return how often each server runs below a process."""
    found = {"everything": 0, "time": 0, "pyright": 0}
    for one in descendants(pid):
        try:
            line = Path(f"/proc/{one}/cmdline").read_bytes().decode()
        except OSError:
            continue
        for name in found:
            # The program itself, not the shell or the warden that it was started by.
            found[name] += name in line and ("server-" in line or "langserver" in line)
    return found


async def test_nothing_is_left_of_any_server_when_the_daemon_is_killed(
    daemon: DaemonProcess, project: Path, tmp_path: Path
):
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        echoed, problems = await play(client, session, tmp_path, ECHO, LOOK, DONE)
        views = {(view.kind, view.name): view.state for view in await client.ask(Servers(str(project)))}
    assert echoed == "Echo: hello"
    assert "error a.py:1:14" in problems
    assert views[("mcp", "all")] == views[("mcp", "clock")] == views[("lsp", "basedpyright")] == "ready"
    below = descendants(daemon.pid)
    running = programs_below(daemon.pid)
    assert running["everything"], running
    assert running["time"], running
    assert running["pyright"], running
    daemon.kill()
    await until_gone(below)


async def test_sessions_of_a_folder_share_their_servers(daemon: DaemonProcess, project: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    await daemon.start()
    async with daemon.reached() as client:
        first = await client.create(cwd=str(project))
        second = await client.create(cwd=str(project))
        third = await client.create(cwd=str(other))
        for session in (first, second, third):
            assert await play(client, session, tmp_path, ECHO, DONE) == ["Echo: hello"]
        pids = {view.name: view.pid for view in await client.ask(Servers(str(project)))}
        elsewhere = {view.name: view.pid for view in await client.ask(Servers(str(other)))}
        prompts = [prompt.name for prompt in await client.ask(ServerPrompts(str(project)))]
    assert pids["all"]
    assert pids["all"] != elsewhere["all"]
    assert pids["clock"] == elsewhere["clock"] != 0
    assert "mcp__all__simple-prompt" in prompts
    below = descendants(daemon.pid)
    assert daemon.ask_to_end() == 0
    await until_gone(below)


# ---------------------------------------------------------------------------- code


class Language(NamedTuple):
    """A project of three files with an old error in the first, as one language writes it."""

    files: dict[str, str]
    symbol: str
    broken: tuple[str, str]
    """What an edit of the second file replaces, and with what."""
    error: str
    """What that brings."""


PYTHON = Language(
    {
        "a.py": "def total(count: int) -> int:\n    return count\n\n\nold: int = 'wrong'\n",
        "b.py": "from a import total\n\nprint(total(1))\n",
        "c.py": "import a\n\n\ndef twice() -> int:\n    return a.total(2) * 2\n",
    },
    "total",
    ("total(1)", "total('1')"),
    "b.py:3:13",
)
TYPESCRIPT = Language(
    {
        "a.ts": "export function total(count: number): number {\n  return count;\n}\n"
        "export const old: number = 'wrong';\n",
        "b.ts": "import { total } from './a';\n\nconsole.log(total(1));\n",
        "c.ts": "import * as a from './a';\n\nexport const twice = () => a.total(2) * 2;\n",
        "tsconfig.json": '{"compilerOptions": {"strict": true, "module": "commonjs"}}\n',
    },
    "total",
    ("total(1)", "total('1')"),
    "b.ts:3:19",
)


@pytest.fixture(params=[PYTHON, TYPESCRIPT], ids=["python", "typescript"])
def code(request: pytest.FixtureRequest, project: Path, home: Path) -> Language:
    language: Language = request.param
    (project / "a.py").unlink()
    for name, text in language.files.items():
        (project / name).write_text(text)
    typescript = script("typescript-language-server")
    (home / "config.toml").write_text(
        f"[lsp]\nwait = 20\n[lsp.servers.ruff]\nenabled = false\n"
        f"[lsp.servers.typescript]\ncommand = {json.dumps([node(), typescript, '--stdio'])}\n"
        f"init_options = {{ tsserver = {{ path = {json.dumps(str(TSSERVER))} }} }}\n"
    )
    return language


async def test_an_edit_that_breaks_a_type_shows_exactly_the_new_error(
    daemon: DaemonProcess, project: Path, tmp_path: Path, code: Language
):
    name = Path(code.error).name.split(":")[0]
    old, new = code.broken
    edit = {"calls": [{"name": "edit_file", "args": {"path": name, "old_str": old, "new_str": new}}]}
    read = {"calls": [{"name": "read_file", "args": {"path": name}}]}
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        path = tmp_path / "edit.json"
        path.write_text(json.dumps({"replies": [read, edit, DONE]}))
        options = RunOptions(model=f"scripted/{path}", mode="accept-edits")
        receipt = await client.submit(session, Prompt(user_message("go"), options))
        assert receipt.run_id is not None
        ended = await wait_for_run(client, session, receipt.run_id, receipt.seq)
        results = [
            one.event.result
            for one in await client.ask(Records(session))
            if isinstance(one.event, ToolFinished)
        ]
    assert ended.outcome == "completed"
    [news] = results[1].output.split("\n\n")[1:]
    head, *rows = news.splitlines()
    assert head == "New problems (1):"
    assert rows[0].startswith(f"error {code.error} ")
    assert "wrong" not in news


async def test_a_symbol_is_renamed_in_three_files_with_one_approval_and_one_rewind(
    daemon: DaemonProcess, project: Path, tmp_path: Path, code: Language
):
    first = next(iter(code.files))
    rename = {
        "calls": [
            {"name": "rename_symbol", "args": {"symbol": code.symbol, "new_name": "sum_up", "path": first}}
        ]
    }
    path = tmp_path / "rename.json"
    path.write_text(json.dumps({"replies": [rename, DONE]}))
    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        options = RunOptions(model=f"scripted/{path}")
        receipt = await client.submit(session, Prompt(user_message("go"), options))
        assert receipt.run_id is not None
        asked = await seen(client, session, ApprovalRequested)
        await client.submit(session, Decide(asked.call_id, "once"))
        ended = await wait_for_run(client, session, receipt.run_id, receipt.seq)
        assert ended.outcome == "completed"
        log = [one.event for one in await client.ask(Records(session))]
        [finished] = [event for event in log if isinstance(event, ToolFinished)]
        assert not finished.result.is_error, finished.result.output
        renamed = {name: text.replace(code.symbol, "sum_up") for name, text in code.files.items()}
        assert {name: (project / name).read_text() for name in code.files} == renamed
        assert [type(event) for event in log].count(ApprovalRequested) == 1
        assert all(f"+++ {name}" in asked.preview for name in code.files if "json" not in name), asked.preview
        await client.submit(session, Rewind(1))
        assert {name: (project / name).read_text() for name in code.files} == code.files
