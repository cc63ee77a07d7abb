"""The settings of shell commands."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct

from bridle.tools.secrets import is_secret_name, password_within

MIN_TIMEOUT_S = 1
MAX_TIMEOUT_S = 600


class ShellSettings(Struct, frozen=True):
    """How commands run, and the limits of what they may use."""

    environ: Mapping[str, str] = {}
    """The variables of this process; commands get those that are not secrets."""
    pass_env: tuple[str, ...] = ()
    """Patterns of variables that commands get even if they look like secrets."""
    secret_env: tuple[str, ...] = ()
    """Names of more variables that commands never get, such as API keys of providers."""
    writable: tuple[str, ...] = ()
    """Folders besides the working directory that commands may change, by absolute path."""
    wants_sandbox: bool = True
    """False if the user chose to run commands without a sandbox."""
    open_network: bool = False
    """True if commands may connect to every host, not only those that rules allow."""
    timeout_s: float = 120
    """The timeout of a command that cannot continue in the background."""
    background_after_s: float = 60
    max_result_bytes: int = 30_000
    max_output_bytes: int = 4 * 1024**3
    """A command that prints more is killed."""
    max_running_jobs: int = 20
    max_jobs: int = 50
    """How many jobs per session are kept, including ended ones."""
    memory_bytes: int | None = None
    max_processes: int | None = None
    max_file_bytes: int | None = None
    cpu_s: int | None = None


# ---------------------------------------------------------------------------- environment
# The environment of commands: that of this process, without secrets and ways out of the sandbox.


FORCED = {
    "AGENT": "bridle",
    "BRIDLE": "1",
    "DEBIAN_FRONTEND": "noninteractive",
    "EDITOR": "false",
    "GIT_EDITOR": "false",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
    "VISUAL": "false",
}
"""Set for every command: a program that waits for a person would wait forever, and colors are useless."""

_DEFAULTS = {"LANG": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}

# Agents, message buses and displays are reached through sockets, which lead out of a sandbox.
_WAYS_OUT = (
    "DBUS_*",
    "DISPLAY",
    "GPG_AGENT_INFO",
    "SSH_AGENT_PID",
    "SSH_AUTH_SOCK",
    "WAYLAND_*",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
)
# These make the shell itself run or read other files.
_SHELL_NAMES = tuple(
    """
    BASHOPTS BASH_* CDPATH ENV EXECIGNORE GLOBIGNORE OLDPWD POSIXLY_CORRECT PROMPT_COMMAND PS4 PWD SHELLOPTS
    SHLVL _
    """.split()
)
_SECRET_PATTERNS = ("AWS_*", "OTEL_EXPORTER_OTLP*HEADERS")


def command_environment(
    environ: Mapping[str, str], *, secret: Collection[str] = (), kept: Collection[str] = ()
) -> dict[str, str]:
    """Return a command's variables; `secret` names more secrets, `kept` has patterns of passed ones."""
    passed = {
        name: value
        for name, value in environ.items()
        if _matches(name, kept) or not _is_withheld(name, value, secret)
    }
    return {**_DEFAULTS, **passed, **FORCED}


def _is_withheld(name: str, value: str, secret: Collection[str]) -> bool:
    patterns = (*_WAYS_OUT, *_SHELL_NAMES, *_SECRET_PATTERNS)
    return name in secret or is_secret_name(name) or bool(password_within(value)) or _matches(name, patterns)


def _matches(name: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
