"""Shared by the shell tests: the tools in every sandbox, and short ways to call them."""

import asyncio
import os
import select
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.ports import Sandbox, Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.sandbox import LocalSandbox
from bridle.tools.secrets import Masker
from bridle.tools.shell import Bash, ShellSettings, shell_tools
from tests.tools.shell.plain import PlainSandbox

ENVIRON = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "GREETING": "hello"}


class MemoryBlobs:
    """Blobs that are gone after the test."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        digest = sha256(data).hexdigest()
        self.kept[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        return self.kept[digest]


class FullBlobs(MemoryBlobs):
    """Blobs on a disk that takes no more."""

    def put(self, data: bytes) -> str:
        raise StoreError("no space left on the device")


class Stage:
    """The tools of one process, and a session that uses them."""

    def __init__(self, sandbox: Sandbox, folder: Path, context: ToolContext, **options: Any) -> None:
        self.sandbox = sandbox
        self.emitted: list[str] = []
        self._emitted = asyncio.Event()
        self.context = replace(context, emit=self._emit)
        self.blobs = options.pop("blobs", MemoryBlobs())
        masker = options.pop("masker", Masker({}))
        parser = options.pop("parse", parse)
        settings = ShellSettings(environ=ENVIRON)
        self.tools: dict[str, Tool] = {
            tool.spec.name: tool
            for tool in shell_tools(
                sandbox,
                folder,
                settings=replace(settings, **options),
                masker=masker,
                blobs=self.blobs,
                parse=parser,
            )
        }

    @property
    def tool(self) -> Bash:
        tool = self.tools["bash"]
        assert isinstance(tool, Bash)
        return tool

    async def call(self, name: str, session: str = "s", **args: Any) -> ToolOutput:
        context = replace(self.context, session=SessionId(session))
        return await self.tools[name].run(args, context)

    def _emit(self, text: str) -> None:
        self.emitted.append(text)
        self._emitted.set()

    async def saw(self, text: str) -> None:
        """Wait for live output."""
        while text not in "".join(self.emitted):
            self._emitted.clear()
            await self._emitted.wait()

    async def bash(self, command: str, **args: Any) -> str:
        """Run a command that succeeds and return its result."""
        output = await self.call("bash", command=command, **args)
        assert not output.is_error, output.text
        return output.text


def processes(marker: str) -> list[int]:
    """Return the processes with this text among their arguments, in whatever namespace they live."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if marker.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def is_gone(marker: str) -> bool:
    """Give processes that were killed a moment to be gone."""
    for pid in processes(marker):
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                select.select([descriptor], [], [], 1)
            finally:
                os.close(descriptor)
    return not processes(marker)


def parse(command: str, cwd: str, root: str) -> Access:
    """Call everything a command that was asked about."""
    return Access("bash", "execute", (Subject("command", command),))


@pytest.fixture(params=["plain", "bubblewrap", "landlock", "none"])
async def sandbox(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    """Yield every kind of sandbox that this machine has."""
    if request.param == "plain":
        yield PlainSandbox()
        return
    local = LocalSandbox(home="/nonexistent", kind=request.param)
    yield local
    for session in ("s", "one", "two", "new"):
        await local.end_session(SessionId(session))


MakeStage = Callable[..., Stage]


@pytest.fixture
async def make_stage(sandbox: Sandbox, tmp_path: Path, context: ToolContext) -> AsyncIterator[MakeStage]:
    """Make the tools with settings of one's own, over every sandbox; all of them are closed in the end."""
    async with making(sandbox, tmp_path, context) as make:
        yield make


@pytest.fixture
async def make_plain(tmp_path: Path, context: ToolContext) -> AsyncIterator[MakeStage]:
    """Do the same over no sandbox, for what has nothing to do with one."""
    async with making(PlainSandbox(), tmp_path, context) as make:
        yield make


@asynccontextmanager
async def making(sandbox: Sandbox, tmp_path: Path, context: ToolContext) -> AsyncIterator[MakeStage]:
    stages: list[Stage] = []

    def make(**options: Any) -> Stage:
        folder = options.pop("folder", tmp_path / "shell")
        stages.append(Stage(options.pop("sandbox", sandbox), folder, context, **options))
        return stages[-1]

    yield make
    for stage in stages:
        await stage.tool.aclose()


@pytest.fixture
def stage(make_stage: MakeStage) -> Stage:
    return make_stage()


@pytest.fixture
def plain(make_plain: MakeStage) -> Stage:
    return make_plain()
