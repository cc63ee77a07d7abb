"""What a tool looks like from outside: its spec for the model and its access class for the rules."""

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
    """One thing a call would touch, which rules can name: a path, a command, a domain."""

    kind: SubjectKind
    value: str


class Access(Struct, frozen=True):
    """What one call would do, as far as rules care."""

    tool: str
    access: AccessClass
    subjects: tuple[Subject, ...] = ()


class ToolOutput(Struct, frozen=True):
    """What a tool's run gives back before it is capped and recorded."""

    text: str
    is_error: bool = False
