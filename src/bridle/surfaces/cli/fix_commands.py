"""Build the commands that fix what `bridle doctor` finds, as they are typed on this machine."""

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from bridle.system.programs import find_program

DISTRIBUTION = "bridle-agent"
INSTALLERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
    "brew": "brew install",
}
"""Package managers: the program that identifies each, and the command that installs a package."""
UNPRIVILEGED = ("brew install",)
_PLACE = re.compile(r"^(?P<file>/.*?):(?P<line>\d+): ")


def pip_command(packages: str, environ: Mapping[str, str], prefix: str = sys.prefix) -> str:
    """Return the command that installs a package next to Bridle, for the installer that Bridle came from."""
    is_own = packages.startswith(DISTRIBUTION)
    quoted = shlex.quote(packages)
    match _installer(prefix):
        case "pipx":
            return f"pipx install --force {quoted}" if is_own else f"pipx inject {DISTRIBUTION} {quoted}"
        case "uv":
            return f"uv tool install {'' if is_own else f'{DISTRIBUTION} --with '}{quoted}"
        case "pip":
            return f"{_pip(environ)} install {quoted}"


def reinstall_command(other: str, environ: Mapping[str, str], prefix: str = sys.prefix) -> str:
    """Return the command that removes another package and restores the files of Bridle that it overwrote."""
    match _installer(prefix):
        case "pipx":
            return f"pipx install --force {DISTRIBUTION}"
        case "uv":
            return f"uv tool install --reinstall {DISTRIBUTION}"
        case "pip":
            pip = _pip(environ)
            return (
                f"{pip} uninstall --yes {other} && {pip} install --force-reinstall --no-deps {DISTRIBUTION}"
            )


def _installer(prefix: str) -> Literal["pip", "pipx", "uv"]:
    """Return the program that created the environment Bridle runs in."""
    folders = Path(prefix).parts
    if "pipx" in folders:
        return "pipx"
    return "uv" if folders[-3:-1] == ("uv", "tools") else "pip"


def _pip(environ: Mapping[str, str]) -> str:
    """Return the command that invokes this environment's pip."""
    pip = find_program("pip", environ.get("PATH", ""), outside=())
    is_ours = pip is not None and Path(pip).parent.resolve() == Path(sys.executable).parent.resolve()
    return "pip" if is_ours else f"{shlex.quote(sys.executable)} -m pip"


def package_command(package: str, environ: Mapping[str, str], *, is_root: bool) -> str:
    """Return the command that installs a system package."""
    path = environ.get("PATH", "")
    found = next(
        (words for program, words in INSTALLERS.items() if find_program(program, path, outside=())), None
    )
    words = found or INSTALLERS["apt-get"]
    return f"{'' if is_root or words in UNPRIVILEGED else 'sudo '}{words} {package}"


def edit_command(message: str) -> str:
    """Return the command that opens the place an error names, or else the one that lists the config files."""
    place = _PLACE.match(message)
    if place is None:
        return "bridle config path"
    return f"${{EDITOR:-vi}} +{place['line']} {shlex.quote(place['file'])}"
