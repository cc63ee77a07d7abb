"""The state that a session's shell keeps between commands: its folder and its exported variables.

```
report    NAME=value NUL ... START NUL cwd NUL NAME=value NUL ... END NUL      before and after the command
file      cwd NUL NAME=value NUL ... NAME NUL ... END                          NAME alone: it was unset
```

Each command runs in a new shell, which reports its variables at the start and at the end through a
descriptor: what the sandbox set and the command did not change is not part of the state. The report is
not trusted, because any program that the command runs could have written it.
"""

import os
import re
import secrets
import tempfile
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path

from msgspec import Struct

from bridle.core.ids import SessionId

MAX_REPORT_BYTES = 1024 * 1024
MAX_ENV_BYTES = 256 * 1024
MAX_VALUE_BYTES = 100_000  # the system accepts no variable of 128 KiB or more
MAX_COMMAND_BYTES = 100_000  # nor an argument
MAX_UNSET = 1000
_MAX_AGE_S = 30 * 24 * 3600
_MAX_TIDIED = 10_000

# One line, so that bash counts the lines of the command from 1. It uses only builtins, called through
# `builtin`, because the command may define functions. Descriptor 3 is moved, so that the command can use it.
_VARIABLES = (
    "for __bridle_name in $(builtin compgen -e); do "
    '[[ -v $__bridle_name ]] && builtin printf "%s=%s\\0" "$__bridle_name" "${!__bridle_name}"; done; '
)
_SCRIPT = (
    f'exec REPORT>&3 3>&-; ({_VARIABLES} builtin printf "START\\0") >&REPORT; '
    'trap \'(unset -v IFS; builtin printf "%s\\0" "$(builtin pwd -P)"; '
    f'{_VARIABLES} builtin printf "END\\0") 2>/dev/null >&REPORT\' EXIT; '
    '__bridle_command=$1; set --; eval "$__bridle_command"'
)
_REPORT_NUMBERS = range(100, 250)
"""Possible descriptors of the report: chosen at random, so that no command can be written to forge one."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHELLS_OWN = frozenset("_ BASHOPTS ENV IFS PROMPT_COMMAND PS4 PWD SHELLOPTS SHLVL".split())
# With these, the next command would do something other than what the rules check.
_READ_OTHERWISE = frozenset("CDPATH EXECIGNORE GLOBIGNORE HOME POSIXLY_CORRECT".split())
# A variable that makes harmless programs run other code would outlive the approval of the command.
_CODE_NAMES = frozenset(
    "GCONV_PATH LESSCLOSE LESSOPEN LOCPATH MANPAGER PAGER RIPGREP_CONFIG_PATH XDG_CONFIG_HOME".split()
)
_CODE_PREFIXES = ("BASH_", "DYLD_", "GIT_", "LD_", "__bridle_")


class ShellState(Struct, frozen=True):
    """The folder and variables with which the next command of a session starts."""

    cwd: str
    """The absolute path of a folder, with links resolved."""
    exported: dict[str, str] = {}
    """Variables that commands have set."""
    unset: tuple[str, ...] = ()
    """Variables that commands have unset."""


def shell_argv(bash: str, command: str) -> tuple[str, ...]:
    """Return the arguments of a bash that runs a command and reports its state to descriptor 3."""
    script = _SCRIPT.replace("REPORT", str(secrets.choice(_REPORT_NUMBERS)))
    return (bash, "--noprofile", "--norc", "-c", script, "bash", command)


def apply_state(environ: Mapping[str, str], state: ShellState) -> dict[str, str]:
    """Return the variables of the next command."""
    kept = {name: value for name, value in environ.items() if name not in state.unset}
    return {**kept, **state.exported, "PWD": state.cwd}


def read_report(data: bytes, before: ShellState, fixed: Collection[str]) -> ShellState | None:
    """Return the state after a command from its shell's report; None if the report is incomplete.

    `fixed` names variables that are the same for every command, whatever a command sets.
    """
    started, _, ended = data.partition(b"\0START\0")
    cwd, *entries = ended.split(b"\0")
    if b"END" not in entries[1:]:  # a report without any variable is not credible
        return None
    old, new = _variables(started.split(b"\0")), _variables(entries[: entries.index(b"END")])
    changed = {
        name: value
        for name, value in new.items()
        if old.get(name) != value and _is_kept(name, fixed) and len(value) <= MAX_VALUE_BYTES
    }
    gone = [name for name in old if name not in new and _is_kept(name, fixed)]
    exported = {name: value for name, value in before.exported.items() if name not in gone} | changed
    unset = tuple(name for name in dict.fromkeys([*before.unset, *gone]) if name not in changed)
    return ShellState(os.fsdecode(cwd), exported, unset[:MAX_UNSET])


def _variables(entries: Iterable[bytes]) -> dict[str, str]:
    return dict(os.fsdecode(entry).split("=", 1) for entry in entries if b"=" in entry)


def is_small(state: ShellState) -> bool:
    """Return whether the variables are small enough to be kept for the next command."""
    return sum(len(os.fsencode(name + value)) for name, value in state.exported.items()) <= MAX_ENV_BYTES


def _is_kept(name: str, fixed: Collection[str]) -> bool:
    if name in fixed or name in _SHELLS_OWN or name in _READ_OTHERWISE or name in _CODE_NAMES:
        return False
    return not name.startswith(_CODE_PREFIXES) and _NAME.fullmatch(name) is not None


class StateFiles:
    """Stores the states on disk, so that another process can resume the session; every method blocks."""

    def __init__(self, folder: Path) -> None:
        """Take a folder that nothing else uses."""
        self._folder = folder
        self._is_tidy = False

    def load(self, session: SessionId) -> ShellState | None:
        """Return the last saved state; None when there is none or it is damaged."""
        self._tidy()
        try:
            with self._path(session).open("rb") as file:
                data = file.read(MAX_REPORT_BYTES)
        except OSError:
            return None
        cwd, *entries = [os.fsdecode(piece) for piece in data.split(b"\0")]
        if not entries or entries.pop() != "END":
            return None
        exported = dict(entry.split("=", 1) for entry in entries if "=" in entry)
        return ShellState(cwd, exported, tuple(entry for entry in entries if "=" not in entry))

    def save(self, session: SessionId, state: ShellState) -> None:
        """Save a state atomically; a disk error is ignored, because only a restart would need the file."""
        entries = [state.cwd, *(f"{name}={value}" for name, value in state.exported.items()), *state.unset]
        path = self._path(session)
        with suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(prefix="state-", suffix=".tmp", dir=self._folder)
            try:
                with open(descriptor, "wb") as file:
                    file.write(b"\0".join(map(os.fsencode, [*entries, "END"])))
                os.replace(name, path)
            except OSError:
                os.unlink(name)

    def _path(self, session: SessionId) -> Path:
        return self._folder / f"state-{sha256(session.encode()).hexdigest()[:32]}"

    def _tidy(self) -> None:
        """Remove states older than 30 days, once per process."""
        if self._is_tidy:
            return
        self._is_tidy = True
        oldest = time.time() - _MAX_AGE_S
        with suppress(OSError):
            for path in islice(self._folder.glob("state-*"), _MAX_TIDIED):
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)
