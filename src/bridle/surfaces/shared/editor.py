"""Starts the user's editor ($VISUAL or $EDITOR); never one from a folder that agents can write to."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence

from bridle.core.errors import BridleError
from bridle.system.programs import SYSTEM_PATH, find_program, unsandboxed_environment, why_not_found

USUAL = ("nano", "vi")
_HINT = "set EDITOR to your editor"


def run_editor(files: Sequence[str], environ: Mapping[str, str], cwd: str) -> None:
    """Open files and wait until the editor exits; raises BridleError if it fails."""
    program, *words = _find_editor(environ, cwd)
    argv = [program, *words, *files]
    try:
        code = subprocess.run(argv, env=unsandboxed_environment(environ, (cwd,)), check=False).returncode
    except OSError as error:
        raise BridleError(f"the editor {program}: {error.strerror}", hint=_HINT) from error
    if code:
        raise BridleError(f"the editor {program} ended with {code}")


def _find_editor(environ: Mapping[str, str], cwd: str) -> list[str]:
    path = environ.get("PATH") or SYSTEM_PATH
    chosen = environ.get("VISUAL") or environ.get("EDITOR")
    if not chosen:
        usual = (find_program(name, path, outside=(cwd,)) for name in USUAL)
        if found := next(filter(None, usual), None):
            return [found]
        raise BridleError("no editor found", hint=_HINT)
    try:
        name, *words = shlex.split(chosen) or [""]
    except ValueError as error:
        raise BridleError(f"$EDITOR cannot be read: {error}", hint=_HINT) from error
    name = os.path.expanduser(name)
    if found := find_program(name, path, outside=(cwd,)):
        return [found, *words]
    raise BridleError(f"the editor {name} {why_not_found(name, path)}", hint=_HINT)
