"""A sandbox and a project for each test, and a way to run programs there."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec, SandboxKind
from bridle.sandbox import LocalSandbox
from bridle.sandbox.cell import SandboxedProgram
from bridle.sandbox.interpreter import find_interpreter

SESSION = SessionId("s1")
SECRET = "TOP-SECRET"


class Outcome(Struct, frozen=True):
    """How a program ended and what it printed."""

    status: int
    output: str


Run = Callable[..., Awaitable[Outcome]]


@pytest.fixture
def kind() -> SandboxKind:
    """Return the kind of sandbox; a test may choose another one."""
    return "bubblewrap"


@pytest.fixture
def user_home(tmp_path: Path) -> Path:
    """Return a home with secrets in it."""
    path = tmp_path / "user"
    (path / ".ssh").mkdir(parents=True)
    (path / ".ssh/id_ed25519").write_text(SECRET)
    (path / ".netrc").write_text(SECRET)
    (path / ".bridle").mkdir()
    (path / ".bridle/config.toml").write_text(SECRET)
    (path / "tools").mkdir()
    (path / "tools/known").write_text("readable\n")
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty writable folder."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
async def sandbox(user_home: Path, kind: SandboxKind) -> AsyncIterator[LocalSandbox]:
    """Yield a sandbox whose programs end with the test."""
    made = LocalSandbox(home=str(user_home), hidden=[str(user_home / ".bridle")], kind=kind)
    assert made.status.kind == kind, made.status.why
    yield made
    await made.end_session(SESSION)


@pytest.fixture
def environment(user_home: Path) -> dict[str, str]:
    """Return the environment of programs."""
    folders = [str(Path(find_interpreter()).parent), os.environ.get("PATH", os.defpath)]
    return {"PATH": os.pathsep.join(folders), "HOME": str(user_home), "LANG": "C.UTF-8"}


@pytest.fixture
def start(
    sandbox: LocalSandbox, project: Path, environment: dict[str, str], kind: SandboxKind
) -> Callable[..., Awaitable[tuple[SandboxedProgram, int]]]:
    """Start a shell command; gives the program and the descriptor to read its output from."""

    async def start(command: str | tuple[str, ...], **more: Any) -> tuple[SandboxedProgram, int]:
        argv = ("bash", "-c", command) if isinstance(command, str) else command
        reader, writer = os.pipe()
        given: dict[str, Any] = {
            "cwd": str(project),
            "writable": (str(project),),
            "env": environment,
            "confined": kind != "none",
            **more,
        }
        try:
            program = await sandbox.start(ProcessSpec(argv=argv, output=writer, **given), SESSION)
        except BaseException:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        assert isinstance(program, SandboxedProgram)
        return program, reader

    return start


@pytest.fixture
def run(start: Callable[..., Awaitable[tuple[SandboxedProgram, int]]]) -> Run:
    """Run a shell command to its end."""

    async def run(command: str | tuple[str, ...], **more: Any) -> Outcome:
        program, reader = await start(command, **more)
        with os.fdopen(reader, "rb") as file:
            output = await asyncio.to_thread(file.read)
        return Outcome(await program.wait(), output.decode())

    return run
