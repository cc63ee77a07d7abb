"""A project for each test, and language servers that end with the test."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bridle.core.ports import SandboxKind
from bridle.lsp.languages import LocalLanguages
from bridle.lsp.settings import FolderLanguages, LanguageServer, Timeouts
from bridle.sandbox import LocalSandbox

CAST = Path(__file__).parent / "cast"
BIN = Path(sys.executable).parent
PACKAGES_BIN = Path(msgspec.__file__).parents[4] / "bin"
"""Programs beside the packages, should the interpreter borrow them from another environment."""
PACE = Timeouts(reading_s=10.0, working_s=10.0, backoff_s=0.01, look_again_s=0.0)

MakeLanguages = Callable[..., LocalLanguages]


def environment() -> dict[str, str]:
    """Return what servers find in their environment."""
    path = os.pathsep.join([str(BIN), str(PACKAGES_BIN), os.environ.get("PATH", os.defpath)])
    return {"PATH": path, "HOME": "/nonexistent", "LANG": "C.UTF-8"}


def player(script: str, *arguments: str, **more: Any) -> LanguageServer:
    """Return a server that is played by a script of the cast."""
    command = (sys.executable, "-S", str(CAST / f"{script}.py"), *arguments)
    return LanguageServer(**{"name": script, "command": command, "extensions": (".toy",), **more})


def write(project: Path, **texts: str) -> None:
    """Write files, whose names have `_toy` for `.toy`."""
    for name, text in texts.items():
        (project / name.replace("_", ".")).write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty folder, by its path without links."""
    path = Path(os.path.realpath(tmp_path)) / "project"
    path.mkdir()
    return path


@pytest.fixture
async def make(project: Path) -> AsyncIterator[MakeLanguages]:
    """Make languages for the project, with these servers."""
    made: list[LocalLanguages] = []

    def make(
        *servers: LanguageServer, pace: Timeouts = PACE, kind: SandboxKind | None = None, **more: Any
    ) -> LocalLanguages:
        given = {"wait_s": 10.0, "trusted": True, "environ": environment(), **more}
        folder = FolderLanguages(str(project), servers, **given)
        sandbox = LocalSandbox(home="/nonexistent", kind=kind)
        made.append(LocalLanguages(lambda _: folder, sandbox, pace=pace))
        return made[-1]

    yield make
    for one in made:
        await one.aclose()
