import json
from pathlib import Path

import pytest

from tests.surfaces.command import Bridle, Done


@pytest.fixture
def ruff(bridle: Bridle, tmp_path: Path) -> Path:
    """A program that must not be started."""
    program = tmp_path / "bin" / "ruff"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\n")
    program.chmod(0o755)
    bridle.env["PATH"] = f"{program.parent}:{bridle.env['PATH']}"
    return program


def test_the_servers_for_the_files_here_are_listed(bridle: Bridle, ruff: Path, tmp_path: Path):
    (bridle.project / "a.py").write_text("x = 1\n")

    done = bridle("lsp", "list")
    found = json.loads(bridle("lsp", "list", "--json").out)

    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "SERVER        STATE    DETAIL",
        "basedpyright  missing  not found: pip install basedpyright",
        f"ruff          found    {ruff}",
    ]
    assert [(one["name"], one["state"]) for one in found] == [("basedpyright", "off"), ("ruff", "idle")]
    assert not (tmp_path / "started").exists()


def test_a_folder_without_code_has_none(bridle: Bridle):
    assert bridle("lsp", "list") == Done(
        0,
        "",
        "no language server is known for the files here\n"
        "hint: docs/language-servers.md shows how to add one\n",
    )
    assert bridle("lsp", "list", "--json") == Done(0, "[]\n", "")


def test_servers_that_are_switched_off(bridle: Bridle, ruff: Path):
    (bridle.project / "a.py").write_text("x = 1\n")
    bridle("config", "set", "lsp.enabled", "false")

    assert bridle("lsp", "list") == Done(
        0, "", "language servers are turned off\nhint: bridle config set lsp.enabled true\n"
    )


def test_a_server_that_is_half_said_is_named(bridle: Bridle):
    bridle("config", "set", "lsp.servers.mine.command", "x")

    assert bridle("lsp", "list").err.splitlines()[-1] == (
        "warning: mine: Bridle does not know it, so it needs a command and extensions"
    )


def test_the_doctor_looks_at_both_kinds(bridle: Bridle, ruff: Path, tmp_path: Path):
    (bridle.project / "a.py").write_text("x = 1\n")
    (bridle.home / "config.toml").write_text(
        '[mcp.servers]\na = { command = "sh" }\nb = { command = "no-such-program" }\n'
        'c = { url = "https://${NOT_SET}" }\nd = { command = "x", enabled = false }\n'
        '[lsp.servers]\nmine = { command = ["x"] }\njson = { enabled = false }\n'
    )
    (bridle.project / ".mcp.json").write_text('{"mcpServers": {"e": {"command": "x"}}}')

    found = json.loads(bridle("doctor", "--json").out)

    assert [
        (one["what"], one["state"], one["text"], one["fix"]) for one in found if one["what"] in ("mcp", "lsp")
    ] == [
        ("mcp", "ok", "a; disabled: d", ""),
        ("mcp", "warn", "not used because the project is not trusted: e", "bridle trust"),
        (
            "mcp",
            "warn",
            "server b: program not found: no-such-program",
            "bridle mcp disable b",
        ),
        (
            "mcp",
            "warn",
            "server c: url: the variable NOT_SET is not set",
            "bridle mcp disable c",
        ),
        ("lsp", "ok", f"ruff in {ruff}", ""),
        ("lsp", "off", "available for files here but not installed: basedpyright", "bridle lsp list"),
        (
            "lsp",
            "warn",
            "mine: Bridle does not know it, so it needs a command and extensions",
            "bridle config set lsp.servers.mine.enabled false",
        ),
    ]
    assert not (tmp_path / "started").exists()
