"""Commands that fix what `bridle doctor` finds, as they are typed on this machine."""

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from bridle.system.programs import find_program

INSTALLERS = {
    "apt-get": "apt-get install",
    "dnf": "dnf install",
    "pacman": "pacman -S",
    "zypper": "zypper install",
    "apk": "apk add",
    "brew": "brew install",
}
"""What installs packages of the system, by the program that says which system it is."""
UNPRIVILEGED = ("brew install",)
_PLACE = re.compile(r"^(?P<file>/.*?):(?P<line>\d+): ")


def pip_command(packages: str, environ: Mapping[str, str], prefix: str = sys.prefix) -> str:
    """Return what installs a package beside Bridle, whichever way Bridle was installed."""
    folders = Path(prefix).parts
    quoted = shlex.quote(packages)
    if "pipx" in folders:
        return (
            f"pipx install --force {quoted}"
            if packages.startswith("bridle")
            else f"pipx inject bridle {quoted}"
        )
    if folders[-3:-1] == ("uv", "tools"):
        extra = "" if packages.startswith("bridle") else "bridle --with "
        return f"uv tool install {extra}{quoted}"
    pip = find_program("pip", environ.get("PATH", ""), outside=())
    is_ours = pip is not None and Path(pip).parent.resolve() == Path(sys.executable).parent.resolve()
    return f"pip install {quoted}" if is_ours else f"{shlex.quote(sys.executable)} -m pip install {quoted}"


def package_command(package: str, environ: Mapping[str, str], *, is_root: bool) -> str:
    """Return what installs a package of the system."""
    path = environ.get("PATH", "")
    found = next(
        (words for program, words in INSTALLERS.items() if find_program(program, path, outside=())), None
    )
    words = found or INSTALLERS["apt-get"]
    return f"{'' if is_root or words in UNPRIVILEGED else 'sudo '}{words} {package}"


def edit_command(message: str) -> str:
    """Return what opens the place that an error names; how to see the files where it names none."""
    place = _PLACE.match(message)
    if place is None:
        return "bridle config path"
    return f"${{EDITOR:-vi}} +{place['line']} {shlex.quote(place['file'])}"
