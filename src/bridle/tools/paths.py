"""The paths a model names, and where they lead inside the working directory.

```
"sub/../lnk/x"  --clean_path-->  "lnk/x"   Kontekst's lexical rule
                --resolve----->  "data/x"  symbolic links followed; must lie below the root
```

What `resolve` found may be changed by somebody before it is opened. `bridle.tools.disk` therefore
opens the resolved path piece by piece and follows no link at all.
"""

import os
import posixpath
from collections.abc import Callable

from msgspec import Struct

from bridle.core.errors import ToolError


class Place(Struct, frozen=True):
    """Where a named path leads."""

    root: str
    """The working directory, free of links; "/" for a place outside of it."""
    name: str
    """The path as the model named it, cleaned; for messages and rules."""
    real: str
    """The same place relative to the root with every link followed; "." is the root itself."""
    shown: str
    """The absolute path as Kontekst's error texts show it."""
    outside: bool = False

    @property
    def parts(self) -> tuple[str, ...]:
        """Return the steps from the root; none for the root itself."""
        return () if self.real == "." else tuple(self.real.split("/"))

    @property
    def subject(self) -> str:
        """Return the real path as rules and records name it: absolute when it lies outside."""
        if not self.outside:
            return self.real
        return "/" if self.real == "." else f"/{self.real}"


def clean_path(path: str) -> str:
    """Return the path without `.`, `..` and doubled slashes; raises ToolError when it is not a relative one.

    A cleaned path that starts with two dots is refused even if it is a file name (`..foo`), as in Kontekst.
    """
    cleaned = posixpath.normpath(path) if path else ""
    if not path or path.startswith(("/", "\\")) or cleaned.startswith(".."):
        raise ToolError("absolute or parent paths are not allowed")
    if "\0" in path:
        raise ToolError("a path cannot hold a NUL character")
    return cleaned


def resolve(cwd: str, path: str, *, outside: Callable[[str], bool] | None = None) -> Place:
    """Follow every link of a named path; raises ToolError when it leads out of the working directory.

    `outside` may allow that: it is asked with the absolute path, free of links. A path that starts
    outside and leads back in becomes the one inside, so that the same rules hold for it.
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
    except OSError as error:  # a link was swapped while it was being read
        raise link_error(name) from error
    shown = cwd if name == "." else os.path.join(cwd, name)
    is_inside = real == root or real.startswith(root.rstrip("/") + "/")
    if is_inside and refusal is None:
        return Place(root=root, name=name, real=os.path.relpath(real, root), shown=shown)
    if outside is None or not outside(real):
        link = ToolError(f"{printable(name)} leads outside the working directory through a symbolic link")
        raise refusal or link
    if is_inside:
        inside = os.path.relpath(real, root)
        return Place(root=root, name=inside, real=inside, shown=shown)
    return Place(root="/", name=name, real=os.path.relpath(real, "/"), shown=shown, outside=True)


def link_error(name: str) -> ToolError:
    """Say that a path goes through links which lead nowhere for certain."""
    return ToolError(f"cannot follow the symbolic links of {printable(name)}: they loop or changed just now")


def printable(name: str) -> str:
    """Return a file name that can be stored and cannot pass for two lines: other bytes become escapes."""
    text = name.encode(errors="surrogateescape").decode(errors="backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
