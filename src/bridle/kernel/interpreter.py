"""Finds the Python interpreter for kernels.

| order | interpreter |
|---|---|
| 1 | the configured one |
| 2 | the one uv finds, if uv is installed |
| 3 | `python3` on the PATH that cells get |
| 4 | the one that Bridle itself runs on |

Asking uv or a wrapper script runs it outside the sandbox, so never one in a folder that cells may change. The
interpreter itself may lie in such a folder only if it runs in a sandbox. A path below a folder that is
replaced in the sandbox, such as /tmp, is resolved to the file it links to.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from bridle.core.errors import ToolError
from bridle.kernel.settings import KernelSettings
from bridle.system.programs import WRITABLE, find_program, is_program, is_within, unsandboxed_environment

HINT = "set `python` in [kernel] to an interpreter of version 3.9 or newer"
_ANSWER_S = 5.0
_OTHER_INSIDE = ("/tmp", "/var/tmp", "/run")
"""Folders that are new and empty in the sandbox."""
_WHERE = ("-I", "-S", "-c", "import sys; print(sys.executable)")

_answers: dict[tuple[str, ...], str] = {}
"""The answers of programs; each question is asked once per process."""


def find_python(settings: KernelSettings, cwd: str) -> str:
    """Return the interpreter for kernels that work in a folder; blocking; raises ToolError."""
    found = _find(settings, cwd)
    roots = [os.path.realpath(root) for root in (cwd, *settings.writable)]
    if not settings.confined or _is_seen(found, roots):
        return found
    behind = os.path.realpath(found)
    if _is_seen(behind, roots):
        return behind
    if settings.python:
        raise ToolError(f"the Python interpreter {found} is not visible in the sandbox", hint=HINT)
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def _is_seen(path: str, roots: Sequence[str]) -> bool:
    return not _is_below(os.path.abspath(path), _OTHER_INSIDE) or _is_below(os.path.abspath(path), roots)


def _find(settings: KernelSettings, cwd: str) -> str:
    search = settings.environ.get("PATH", os.defpath)
    roots = (cwd, *settings.writable)
    outside = () if settings.confined else roots  # in a sandbox it may belong to the project
    if "/" in settings.python:
        named = os.path.expanduser(settings.python)
        path = os.path.join(cwd, named)
        found = _checked(path if os.access(path, os.X_OK) else None, settings.python)
        if not os.path.isabs(named) and is_within(path, outside):
            raise ToolError(
                f"the Python interpreter {path} is not run without a sandbox: it {WRITABLE}", hint=HINT
            )
        return found
    if settings.python:
        found = _checked(find_program(settings.python, search, outside=outside), settings.python)
        return _behind_script(found, settings.environ, roots)
    uv = find_program("uv", search, outside=roots)
    if uv is not None:
        asked = (uv, "python", "find", "--no-project", settings.uv_python)
        environ = {**settings.environ, "UV_OFFLINE": "1", "UV_PYTHON_DOWNLOADS": "never"}
        answer = _answer(asked, unsandboxed_environment(environ, roots))
        if is_program(answer) and not is_within(answer, roots):
            return answer
    plain = find_program("python3", search, outside=outside)
    if plain is not None:
        return _behind_script(plain, settings.environ, roots)
    return os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


def _checked(path: str | None, name: str) -> str:
    if path is None or os.path.isdir(path):
        raise ToolError(f"Python interpreter not found: {name}", hint=HINT)
    return path


def _behind_script(path: str, environ: Mapping[str, str], roots: Sequence[str]) -> str:
    """Return the interpreter behind a script such as pyenv's, which takes ten times as long to start."""
    if is_within(path, roots) or not _is_script(path):
        return path
    answer = _answer((path, *_WHERE), unsandboxed_environment(environ, roots))
    return answer if os.path.isabs(answer) and os.access(answer, os.X_OK) else path


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path == root or path.startswith(root.rstrip("/") + "/") for root in roots)


def _answer(argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """Return the last line that a program prints; empty if it fails or takes too long."""
    question = (*argv, environ.get("PATH", ""))
    if question not in _answers:
        _answers[question] = _ask(argv, environ)
    return _answers[question]


def _ask(argv: tuple[str, ...], environ: Mapping[str, str]) -> str:
    try:
        done = subprocess.run(
            argv,
            cwd="/",
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_ANSWER_S,
            process_group=0,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace").strip().rpartition("\n")[2] if done.returncode == 0 else ""
