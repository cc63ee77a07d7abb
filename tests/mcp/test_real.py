"""Real third-party servers, as people use them: files, git, the clock, the web."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from bridle.mcp.settings import ServerSettings
from tests.mcp.loopback import answering, response
from tests.mcp.players import kept
from tests.node_servers import node, script
from tests.patience import PATIENCE_S

BIN = Path(sys.executable).parent


def program(name: str, *argv: str, **more: Any) -> ServerSettings:
    env = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LANG": "C.UTF-8"}
    return ServerSettings(name, "stdio", argv=argv, env={**env, **more.pop("env", {})}, **more)


async def test_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("first\nsecond\n")
    (tmp_path / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    files = program("files", node(), script("@modelcontextprotocol/server-filesystem"), str(tmp_path))
    async with kept(tmp_path, files) as keep:
        tools = await keep.tools()
        read = await keep.call("mcp__files__read_text_file", {"path": str(tmp_path / "notes.txt"), "head": 1})
        seen = await keep.call("mcp__files__read_media_file", {"path": str(tmp_path / "dot.png")})
        await keep.call("mcp__files__write_file", {"path": str(tmp_path / "new.txt"), "content": "ä\n"})
        edit = {"path": str(tmp_path / "new.txt"), "edits": [{"oldText": "ä", "newText": "ö"}]}
        edited = await keep.call("mcp__files__edit_file", edit)
        outside = await keep.call("mcp__files__read_text_file", {"path": "/etc/hostname"})

    assert {name.removeprefix("mcp__files__") for name in tools} >= {
        "create_directory",
        "directory_tree",
        "edit_file",
        "get_file_info",
        "list_allowed_directories",
        "list_directory",
        "move_file",
        "read_media_file",
        "read_multiple_files",
        "read_text_file",
        "search_files",
        "write_file",
    }
    assert read.text.split("\n")[0] == "first"
    assert [media.mime for media in seen.media] == ["image/png"]
    assert (tmp_path / "new.txt").read_text() == "ö\n"
    assert "+ö" in edited.text
    assert outside.is_error
    assert "outside allowed directories" in outside.text


async def test_files_of_the_folder_that_we_name_as_root(tmp_path: Path) -> None:
    """Started without a folder, the server asks us for one."""
    (tmp_path / "notes.txt").write_text("here\n")
    files = program("files", node(), script("@modelcontextprotocol/server-filesystem"))
    async with kept(tmp_path, files) as keep:
        async with asyncio.timeout(PATIENCE_S):
            allowed = ""
            while str(tmp_path) not in allowed:  # it asks once it has begun
                allowed = (await keep.call("mcp__files__list_allowed_directories")).text
        read = await keep.call("mcp__files__read_text_file", {"path": str(tmp_path / "notes.txt")})

    assert read.text.startswith("here\n")


async def test_git(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", "-b", "main", str(repository)], check=True)
    (repository / "a.txt").write_text("one\n")
    who = {
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@math.example",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@math.example",
    }
    git = program("git", str(BIN / "mcp-server-git"), "--repository", str(repository), env=who)
    async with kept(tmp_path, git) as keep:
        status = await keep.call("mcp__git__git_status", {"repo_path": str(repository)})
        await keep.call("mcp__git__git_add", {"repo_path": str(repository), "files": ["a.txt"]})
        done = await keep.call("mcp__git__git_commit", {"repo_path": str(repository), "message": "begin"})
        log = await keep.call("mcp__git__git_log", {"repo_path": str(repository)})
        nowhere = await keep.call("mcp__git__git_status", {"repo_path": "/nonexistent"})

    assert "a.txt" in status.text
    assert done.text.startswith("Changes committed successfully")
    assert "begin" in log.text
    assert nowhere.is_error


async def test_time(tmp_path: Path) -> None:
    clock = program("time", str(BIN / "mcp-server-time"), "--local-timezone", "Europe/Berlin")
    async with kept(tmp_path, clock) as keep:
        tools = await keep.tools()
        question = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
        converted = await keep.call("mcp__time__convert_time", question)
        wrong = await keep.call("mcp__time__convert_time", {**question, "time": "noon"})

    assert sorted(tools) == ["mcp__time__convert_time", "mcp__time__get_current_time"]
    assert "T21:00:00+09:00" in converted.text
    assert wrong.is_error


async def test_the_web(tmp_path: Path) -> None:
    page = b"<html><body><h1>Bees</h1><p>They <b>hum</b> all day long.</p></body></html>"

    def answer(line: str, *_: Any) -> bytes:
        if "robots" in line:
            return response("404 Not Found")
        return response("200 OK", page, content_type="text/html")

    fetch = program("fetch", str(BIN / "mcp-server-fetch"), "--allow-private-ips")
    async with answering(answer) as url, kept(tmp_path, fetch) as keep:
        prompts = await keep.tools() and await keep.servers.prompts(keep.cwd)
        read = await keep.call("mcp__fetch__fetch", {"url": f"{url}/bees", "raw": True})
        nowhere = await keep.call("mcp__fetch__fetch", {"url": "http://127.0.0.1:1/"})

    assert [prompt.name for prompt in prompts] == ["mcp__fetch__fetch"]
    assert "<h1>Bees</h1>" in read.text
    assert nowhere.is_error
