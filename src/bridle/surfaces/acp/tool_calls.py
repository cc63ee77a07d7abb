"""Tool calls as an editor shows them: kind, title, locations, changes and output."""

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from acp.schema import (
    ContentToolCallContent,
    FileEditToolCallContent,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    ToolCallUpdate,
    ToolKind,
)
from msgspec import Struct

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import ApprovalRequested
from bridle.surfaces.acp.content import media_block, text_block
from bridle.surfaces.shared.text_format import code_of, describe_args, format_reason

# ---------------------------------------------------------------------------- diffs
# Splits unified diffs into old and new texts.


_HUNK = re.compile(r"@@ -\d+,(?P<old>\d+) \+(?P<line>\d+),(?P<new>\d+) @@")
_NOTHING = "/dev/null"


class Edit(Struct, frozen=True):
    """Some lines of a file, before and after."""

    path: str
    old: str | None
    """None for a new file."""
    new: str
    line: int
    """The first line of the new text, from 1."""


def edits_in(diff: str) -> list[Edit] | None:
    """Return the edits of a diff, one per hunk; None if it is not a complete diff."""
    edits: list[Edit] = []
    before = path = ""
    lines = iter(diff.removesuffix("\n").split("\n"))
    for line in lines:
        hunk = _HUNK.fullmatch(line)
        if line.startswith("--- ") and (after := next(lines, "")).startswith("+++ "):
            before, path = line[4:], after[4:]
        elif hunk is not None and path:
            old, new = _texts(lines, int(hunk["old"]), int(hunk["new"]))
            if old is None or new is None:
                return None
            edits.append(Edit(path, None if before == _NOTHING else old, new, max(1, int(hunk["line"]))))
        else:
            return None
    return edits or None


def _texts(lines: Iterator[str], old_count: int, new_count: int) -> tuple[str, str] | tuple[None, None]:
    """Read the lines of one hunk; return None if their number is wrong."""
    old: list[str] = []
    new: list[str] = []
    while len(old) < old_count or len(new) < new_count:
        line = next(lines, "")
        if line[:1] not in (" ", "+", "-") or not line:
            return None, None
        if line[0] != "+":
            old.append(line[1:])
        if line[0] != "-":
            new.append(line[1:])
    if (len(old), len(new)) != (old_count, new_count):
        return None, None
    return "\n".join(old), "\n".join(new)


# ---------------------------------------------------------------------------- tool calls


MAX_TITLE_CHARS = 200
MAX_TEXT_CHARS = 100_000
MAX_PLACES = 100

KINDS: dict[str, ToolKind] = {
    "read_file": "read",
    "job_output": "read",
    "list_resources": "read",
    "read_resource": "read",
    "write_file": "edit",
    "edit_file": "edit",
    "multi_edit": "edit",
    "rename_symbol": "edit",
    "list_files": "search",
    "ls": "search",
    "glob": "search",
    "grep": "search",
    "web_search": "search",
    "code_search": "search",
    "references": "search",
    "definition": "search",
    "diagnostics": "search",
    "memory_search": "search",
    "tool_search": "search",
    "bash": "execute",
    "python": "execute",
    "jobs": "execute",
    "job_kill": "execute",
    "web_fetch": "fetch",
    "download": "fetch",
    "todos": "think",
    "skill": "think",
    "agent_spawn": "think",
    "agent_fork": "think",
}

Content = ContentToolCallContent | FileEditToolCallContent


class ToolCallView(Struct, frozen=True):
    """A tool call shown in the editor."""

    id: CallId
    tool: str
    args: dict[str, Any]
    cwd: str
    parent: CallId | None = None
    """The call whose code made this one."""
    who: str = ""
    """The sub-agent that makes the call; empty for the session itself."""

    @property
    def title(self) -> str:
        """The call on one line."""
        about = f"{self.tool} {describe_args(self.args)}".rstrip()
        return shorten_title(f"{self.who}: {about}" if self.who else about)

    @property
    def kind(self) -> ToolKind:
        """The kind of tool."""
        return KINDS.get(self.tool, "other")

    @property
    def places(self) -> list[ToolCallLocation]:
        """The file named in the arguments, if any."""
        path = self.args.get("path", self.args.get("file_path"))
        if not isinstance(path, str) or not path or "\0" in path:
            return []
        line = self.args.get("start_line", self.args.get("line"))
        has_line = isinstance(line, int) and not isinstance(line, bool) and line > 0
        return [ToolCallLocation(path=os.path.join(self.cwd, path), line=line if has_line else None)]

    @property
    def code_content(self) -> list[Content] | None:
        """The code it runs; None if it runs none."""
        code = code_of(self.tool, self.args)
        return [text_content(f"```python\n{code}\n```")] if code else None

    def start(self, status: ToolCallStatus = "pending") -> ToolCallStart:
        """Return the update that announces the call."""
        code = self.code_content
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=self.id,
            title=self.title,
            kind=self.kind,
            status=status,
            raw_input=self.args,
            locations=self.places or None,
            content=[*code] if code else None,
            field_meta={"bridle": {"parent": self.parent}} if self.parent is not None else None,
        )

    def asked(self, request: ApprovalRequested) -> ToolCallUpdate:
        """Return the call as it is shown in a permission request."""
        why = format_reason(request.why, self.who)
        content = diff_contents(request.preview, self.cwd) or []
        if not content and (shown := code_of(self.tool, self.args) or request.preview.rstrip("\n")):
            content = [text_content(f"```\n{shown}\n```")]
        return ToolCallUpdate(
            tool_call_id=self.id,
            title=self.title,
            kind=self.kind,
            status="pending",
            raw_input=self.args,
            locations=self.places or None,
            content=[*content, text_content(why)],
        )


def status_update(
    call_id: CallId, status: ToolCallStatus, content: Sequence[Content] | None = None, **facts: Any
) -> ToolCallProgress:
    """Return an update of a call's status."""
    return ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=call_id,
        status=status,
        content=list(content) if content is not None else None,
        **facts,
    )


def final_update(result: ToolResult, diff: str, cwd: str) -> ToolCallProgress:
    """Return the final update of a call: its changes, or its output."""
    edits = edits_in(diff) if diff else None
    content: list[Content] = edit_contents(edits, cwd) if edits else []
    if not edits and (text := result.output.rstrip("\n")):
        content.append(text_content(text[:MAX_TEXT_CHARS]))
    if diff and not edits:
        content.append(text_content(f"```diff\n{diff[:MAX_TEXT_CHARS]}\n```"))
    content += [ContentToolCallContent(type="content", content=media_block(media)) for media in result.media]
    return status_update(
        result.call_id,
        "failed" if result.is_error else "completed",
        content,
        locations=changed_locations(edits, cwd) if edits else None,
        raw_output={"output": result.output[:MAX_TEXT_CHARS], "isError": result.is_error},
    )


def diff_contents(diff: str, cwd: str) -> list[Content] | None:
    """Return a diff as old and new texts; None if it is not a complete diff."""
    edits = edits_in(diff) if diff else None
    return edit_contents(edits, cwd) if edits else None


def edit_contents(edits: Sequence[Edit], cwd: str) -> list[Content]:
    """Return old and new texts, each with its file."""
    return [
        FileEditToolCallContent(
            type="diff", path=os.path.join(cwd, edit.path), old_text=edit.old, new_text=edit.new
        )
        for edit in edits
    ]


def changed_locations(edits: Sequence[Edit], cwd: str) -> list[ToolCallLocation]:
    """Return the changed locations, one per file."""
    first: dict[str, int] = {}
    for edit in edits:
        first.setdefault(os.path.join(cwd, edit.path), edit.line)
    return [ToolCallLocation(path=path, line=line) for path, line in list(first.items())[:MAX_PLACES]]


def text_content(text: str) -> ContentToolCallContent:
    """Wrap a text as content of a call."""
    return ContentToolCallContent(type="content", content=text_block(text))


def shorten_title(text: str) -> str:
    """Shorten a title."""
    return text if len(text) <= MAX_TITLE_CHARS else text[: MAX_TITLE_CHARS - 1] + "…"
