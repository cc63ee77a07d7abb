"""Clean and resolve the paths that a model names, inside the working directory.

```
"sub/../lnk/x"  --clean_path-->  "lnk/x"   Kontekst's lexical rule
                --resolve----->  "data/x"  symbolic links followed; must be below the root
```

Another process may change the resolved path before it is opened. `bridle.tools.filesystem` therefore opens it
step by step and follows no link at all.
"""

import os
import posixpath
from collections.abc import Callable

from msgspec import Struct

from bridle.core.errors import ToolError


class ResolvedPath(Struct, frozen=True):
    """A path that a model named, resolved."""

    root: str
    """The working directory with links resolved; "/" for a place outside it."""
    name: str
    """The path as the model named it, cleaned; used in messages and rules."""
    real: str
    """The path relative to the root with every link followed; "." is the root itself."""
    shown: str
    """The absolute path, as Kontekst's error texts show it."""
    outside: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """The names from the root down; empty for the root itself."""
        return () if self.real == "." else tuple(self.real.split("/"))

    @property
    def subject(self) -> str:
        """The real path as rules and records name it: absolute when it is outside."""
        if not self.outside:
            return self.real
        return "/" if self.real == "." else f"/{self.real}"


def clean_path(path: str) -> str:
    """Return the path without `.`, `..` and double slashes; raises ToolError when it is not relative.

    A cleaned path that starts with two dots is refused even if it is a file name (`..foo`), as in Kontekst.
    """
    cleaned = posixpath.normpath(path) if path else ""
    if not path or path.startswith(("/", "\\")) or cleaned.startswith(".."):
        raise ToolError("absolute or parent paths are not allowed")
    if "\0" in path:
        raise ToolError("a path cannot contain a NUL character")
    return cleaned


def resolve(cwd: str, path: str, *, outside: Callable[[str], bool] | None = None) -> ResolvedPath:
    """Follow every link of a named path; raises ToolError when it leads out of the working directory.

    `outside` may allow that; it is called with the absolute path, links resolved. A path that starts
    outside and leads back inside becomes the inside path, so that the same rules apply to it.
    """
    try:
        name, refusal = clean_path(path), None
    except ToolError as error:
        if outside is None or not path or path.startswith("\\") or "\0" in path:
            raise
        name, refusal = "/" + posixpath.normpath(os.path.join(cwd, path)).lstrip("/"), error
    try:
        root = os.path.realpath(cwd)
        real = os.path.realpath(os.path.join(root, name))
    except OSError as error:  # a link was replaced while it was being read
        raise link_error(name) from error
    shown = cwd if name == "." else os.path.join(cwd, name)
    is_inside = real == root or real.startswith(root.rstrip("/") + "/")
    if is_inside and refusal is None:
        return ResolvedPath(root=root, name=name, real=os.path.relpath(real, root), shown=shown)
    if outside is None or not outside(real):
        link = ToolError(f"{printable(name)} leads outside the working directory through a symbolic link")
        raise refusal or link
    if is_inside:
        inside = os.path.relpath(real, root)
        return ResolvedPath(root=root, name=inside, real=inside, shown=shown)
    return ResolvedPath(root="/", name=name, real=os.path.relpath(real, "/"), shown=shown, outside=True)


def link_error(name: str) -> ToolError:
    """Return the error for a path whose links loop or changed during resolution."""
    return ToolError(f"cannot follow the symbolic links of {printable(name)}: they loop or changed just now")


def printable(name: str) -> str:
    """Return a file name as storable text on one line: other bytes and characters become escapes."""
    text = name.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
