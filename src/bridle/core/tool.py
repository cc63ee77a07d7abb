"""What a tool looks like from outside: its spec for the model and its access class for the rules."""

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct

AccessClass = Literal["read", "write", "execute", "network"]
SubjectKind = Literal["path", "command", "domain", "text"]


class ToolSpec(Struct, frozen=True):
    """What the model sees of a tool."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON Schema of type object."""


class Subject(Struct, frozen=True):
    """One thing a call would touch, which rules can name: a path, a command, a domain.

    A path is relative to the working directory, or absolute when it lies outside of it.
    """

    kind: SubjectKind
    value: str
    access: AccessClass | None = None
    """What the call does to it, where that is not what the call as a whole does."""
    tool: str = ""
    """The tool whose rules speak of it, where that is not the called one: a redirection of `bash` into a
    file is judged like a `write_file`."""
    general: str = ""
    """For a command: the pattern that a standing rule for the like of it would have; empty for none."""
    trap: str = ""
    """For a path: the place around it whose files a program of the user runs, as its settings say."""


class Access(Struct, frozen=True):
    """What one call would do, as far as rules care."""

    tool: str
    access: AccessClass
    subjects: tuple[Subject, ...] = ()
    doubt: str = ""
    """Why a person should look at it even where rules allow it: it cannot be parsed, no sandbox holds it."""
    unproven: str = ""
    """Why the mode alone cannot let its commands run: it is not proven that they do what they seem to."""
    unseen: str = ""
    """Why it may read files that it does not name: a person decides where a rule protects some."""
    once: bool = False
    """It has an effect although nothing outside is touched: after a cut it must not simply run again."""

    @property
    def reads_only(self) -> bool:
        """It was proven to change nothing."""
        is_sure = bool(self.subjects) and not (self.doubt or self.unproven)
        return is_sure and all((subject.access or self.access) == "read" for subject in self.subjects)


def is_among(tool: str, names: Collection[str]) -> bool:
    """Tell whether a tool is one of these: names, or patterns such as `mcp__git__*`."""
    return tool in names or any("*" in name and fnmatchcase(tool, name) for name in names)
