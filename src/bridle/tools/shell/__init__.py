"""The shell tool: run commands, read their output, and manage background jobs."""

from pathlib import Path

from bridle.core.ports import Blobs, Sandbox, Tool
from bridle.tools.secrets import Masker
from bridle.tools.shell.bash import Bash, Parse
from bridle.tools.shell.jobs import JobKill, JobOutput, Jobs
from bridle.tools.shell.session_shells import SessionShells
from bridle.tools.shell.settings import ShellSettings

__all__ = ["Bash", "JobKill", "JobOutput", "Jobs", "Parse", "SessionShells", "ShellSettings", "shell_tools"]


def shell_tools(
    sandbox: Sandbox,
    folder: Path,
    *,
    settings: ShellSettings,
    masker: Masker | None = None,
    blobs: Blobs | None = None,
    parse: Parse | None = None,
) -> tuple[Tool, ...]:
    """Return `bash` and the tools for its jobs, which share one set of shells.

    Nothing else may use `folder`. The caller must call `end_session` of `bash` when it closes a session,
    and `aclose` at the end of the process.
    """
    shells = SessionShells(sandbox, folder, settings)
    masker = masker or Masker({})
    return Bash(shells, parse, masker, blobs), Jobs(shells), JobKill(shells), JobOutput(shells, masker)
