"""The environment of commands: that of this process, without secrets and ways out of the sandbox."""

from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

from bridle.tools.secrets import is_secret_name, password_within

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
