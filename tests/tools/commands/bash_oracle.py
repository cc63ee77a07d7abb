"""How bash itself reads words and command lines: the oracle for Bridle's parsers."""

import subprocess
from pathlib import Path

BASH = ("/bin/bash", "--norc", "--noprofile", "-c")
_WORDS = """PATH=/nonexistent
eval "builtin printf '%s\\\\0' first $1" 2>/dev/null
"""
_RUN = """
exec 2>/dev/null </dev/null 9>"$2"
PATH=/nonexistent
ulimit -t 2 -f 1000
command_not_found_handle() { builtin printf '%s\\0' "$#" "$@" >&9; return $(($# % 2)); }
eval "$1" >/dev/null
wait
"""


def bash_words(source: str, cwd: Path) -> list[str] | None:
    """Return the words that bash makes of a text; None when it makes none."""
    done = subprocess.run(
        [*BASH, _WORDS, "bash", source], cwd=cwd, capture_output=True, check=False, timeout=10
    )
    return done.stdout.decode().split("\0")[1:-1] if done.returncode == 0 else None


def commands_run(script: str, cwd: Path) -> list[list[str]]:
    """Run a script in which no program exists; returns every command that it tried to run."""
    log = cwd / "log"
    subprocess.run([*BASH, _RUN, "bash", script, str(log)], cwd=cwd, check=False, timeout=10)
    parts = log.read_bytes().decode().split("\0")[:-1]
    log.unlink()
    commands = []
    while parts:
        count = int(parts[0])
        commands.append(parts[1 : count + 1])
        parts = parts[count + 1 :]
    return commands
