"""A sandbox and a folder for each test, and ways to start a kernel there."""

import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.ports import ProcessSpec, SandboxKind
from bridle.core.tool import ToolSpec
from bridle.kernel.cell import CellResult
from bridle.kernel.channel import open_pipes
from bridle.kernel.host import Kernel
from bridle.kernel.settings import Owner
from bridle.kernel.start import KernelEnvironment, KernelSettings, start_kernel
from bridle.sandbox import LocalSandbox

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
ECHO = ToolSpec(
    "echo",
    "Return what it is given.",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)

StartKernel = Callable[..., Awaitable[Kernel]]


class Stage:
    """One who runs cells, and what reached them meanwhile."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.emitted: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.called: list[tuple[str, dict[str, Any]]] = []

    async def echo(self, name: str, args: dict[str, Any]) -> tuple[bool, str]:
        self.called.append((name, args))
        return True, str(args.get("text"))

    async def run(self, code: str, **more: Any) -> CellResult:
        return await self.kernel.run(
            code,
            **{
                "call": self.echo,
                "emit": self.emitted.append,
                "say": lambda text, kind: self.said.append((text, kind)),
                **more,
            },
        )


@pytest.fixture
def kind() -> SandboxKind:
    """Return the kind of sandbox; a test may choose another one."""
    return "bubblewrap"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty folder that cells may change."""
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
async def sandbox(kind: SandboxKind) -> LocalSandbox:
    """Yield a sandbox; tests close the kernels that they start in it."""
    return LocalSandbox(home="/nonexistent", kind=kind)


@pytest.fixture
def settings() -> KernelSettings:
    """Return settings with short waits."""
    return KernelSettings(
        python=PYTHON,
        environ={"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent", "LANG": "C.UTF-8"},
        cell_timeout_s=10,
        interrupt_grace_s=0.5,
    )


@pytest.fixture
async def start(
    sandbox: LocalSandbox, settings: KernelSettings, project: Path, kind: SandboxKind
) -> AsyncIterator[StartKernel]:
    """Start kernels, with settings of one's own; they end with the test."""
    kernels: list[Kernel] = []

    async def start(*, specs: tuple[ToolSpec, ...] = (ECHO,), **more: Any) -> Kernel:
        room = SessionId(f"kernel-{len(kernels)}")
        wanted = replace(settings, confined=kind != "none", **more)
        kernels.append(
            await start_kernel(sandbox, wanted, KernelEnvironment(str(project)), room, specs=specs)
        )
        return kernels[-1]

    yield start
    for kernel in kernels:
        await kernel.close()


@pytest.fixture
async def start_other(settings: KernelSettings, project: Path) -> AsyncIterator[StartKernel]:
    """Start another guest by its command line, without a sandbox."""
    sandbox = LocalSandbox(home="/nonexistent", kind="none")
    kernels: list[Kernel] = []

    async def start(*argv: str, specs: tuple[ToolSpec, ...] = (ECHO,), **more: Any) -> Kernel:
        room = SessionId(f"other-{len(kernels)}")
        pipes = open_pipes()
        spec = ProcessSpec(
            argv=(PYTHON, "-S", *argv),
            cwd=str(project),
            env=settings.environ,
            input=pipes.input,
            output=pipes.output,
            errors=pipes.errors,
            confined=False,
        )
        process = await sandbox.start(spec, room)
        pipes.close_theirs()
        wanted = replace(settings, **more)
        let_go = lambda: sandbox.end_session(room)  # noqa: E731 - what a kernel is given
        kernels.append(Kernel(process, pipes, wanted, owner=Owner(), let_go=let_go))
        await kernels[-1].set_tools(specs)
        return kernels[-1]

    yield start
    for kernel in kernels:
        await kernel.close()


@pytest.fixture
async def stage(start: StartKernel) -> Stage:
    """Yield one of Bridle's kernels in the sandbox."""
    return Stage(await start())
