"""A tool's description for the model, and what its calls touch, for the rules."""

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import Any, Literal

from msgspec import Struct

AccessClass = Literal["read", "write", "execute", "network"]
SubjectKind = Literal["path", "command", "domain", "text"]
INSTRUCTION_TOOLS = frozenset({"skill"})
"""Tools that only show the model a text by the user: they run even where every call needs approval."""

SHELL_TOOLS = ("bash", "jobs", "job_output", "job_kill")
"""The tools that run commands, and those for the jobs they leave running."""

PEER_TOOLS = ("peer_list", "peer_request", "peer_respond", "peer_send")
"""The tools for messages to agents of other processes; a sub-agent must have none of them, so that nothing
reaches the network through it."""


class ToolSpec(Struct, frozen=True):
    """What the model sees of a tool."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON Schema of type object."""


class Subject(Struct, frozen=True):
    """One thing that a call would touch and that rules can name: a path, a command or a domain.

    A path is relative to the working directory, or absolute if it lies outside of it.
    """

    kind: SubjectKind
    value: str
    access: AccessClass | None = None
    """What the call does to it; None for the access of the whole call."""
    tool: str = ""
    """The tool whose rules apply, if it is not the called one: a redirection of `bash` into a file is judged
    like a `write_file`."""
    general: str = ""
    """For a command: the pattern of a general rule for such commands; empty for none."""
    trap: str = ""
    """For a path: the folder or file around it that one of the user's programs runs, as its settings say."""


class Access(Struct, frozen=True):
    """What one call would touch, for the rules to judge."""

    tool: str
    access: AccessClass
    subjects: tuple[Subject, ...] = ()
    doubt: str = ""
    """Why it needs an approval even if rules allow it: it cannot be parsed, or no sandbox confines it."""
    unproven: str = ""
    """Why the mode alone cannot allow its commands: it is not proven that they do what they seem to do."""
    unseen: str = ""
    """Why it may read files that it does not name: it needs an approval if a rule protects some files."""
    once: bool = False
    """True if it has an effect although it touches nothing outside: after a crash it must not run again."""

    @property
    def reads_only(self) -> bool:
        """True if it is proven to change nothing."""
        is_sure = bool(self.subjects) and not (self.doubt or self.unproven)
        return is_sure and all((subject.access or self.access) == "read" for subject in self.subjects)


def is_among(tool: str, names: Collection[str]) -> bool:
    """Return True if a tool matches one of these names or patterns such as `mcp__git__*`."""
    return tool in names or any("*" in name and fnmatchcase(tool, name) for name in names)
