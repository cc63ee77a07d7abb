"""Plan edits of several files once, show them as one diff, and make them in all files or in none.

```
FileEdit … ─▶ plan_edits ─▶ Plan ─▶ Plans keeps it for the call, so that rules can be checked
                                └─▶ carry_out: all as planned? keep ─▶ temporary files ─▶ renames
                                                                       fails: restore renamed files
```
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from threading import Event
from typing import Any

from msgspec import Struct

from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.language_servers import FileEdit
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.tools.diff import new_file_diff, unified_diff
from bridle.tools.edits import Document, parse_document
from bridle.tools.file_changes import MAX_PREVIEW_BYTES, LoadedFile, load_file
from bridle.tools.filesystem import check_unprotected, open_replacement, remove_file
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.tool_support import MAX_FILE_BYTES, resolve_path, system_errors
from bridle.tools.toolbox import cap_output

MAX_FILES = 200  # each needs three open descriptors, of which a process has 1024
MAX_TOTAL_BYTES = 64 * 1024 * 1024
MAX_PLANS = 64  # per session; a call that waits for an approval has one
MAX_SHOWN_BYTES = 12_000  # of the diff that the model gets

_AGAIN = "call it again"


class FilePlan(Struct, frozen=True):
    """The planned change of one file: its content before and after, None where there is no file."""

    place: ResolvedPath
    before: bytes | None
    after: bytes | None


class EditPlan(Struct, frozen=True):
    """The planned changes of one call."""

    args: dict[str, Any]
    files: tuple[FilePlan, ...]
    title: str
    """The line above the diff in the result for the model."""
    diff: str

    @property
    def paths(self) -> tuple[str, ...]:
        """The absolute paths of the files."""
        return tuple(absolute_path(planned.place) for planned in self.files)


class EditPlans:
    """The plans for calls that have not run yet, by session."""

    def __init__(self) -> None:
        self._kept: dict[SessionId, dict[CallId, EditPlan]] = {}

    def put(self, context: ToolContext, plan: EditPlan) -> None:
        """Store the plan for a call; drop the oldest one if there are more than `MAX_PLANS`."""
        kept = self._kept.setdefault(context.session, {})
        kept.pop(context.call_id, None)
        kept[context.call_id] = plan
        if len(kept) > MAX_PLANS:
            del kept[next(iter(kept))]

    def get(self, context: ToolContext, args: dict[str, Any]) -> EditPlan | None:
        """Return the plan for a call with these arguments; None if there is none."""
        plan = self._kept.get(context.session, {}).get(context.call_id)
        return plan if plan is not None and plan.args == args else None

    def take(self, context: ToolContext, args: dict[str, Any]) -> EditPlan:
        """Remove and return the plan for a call; raises ToolError when there is none."""
        plan = self.get(context, args)
        self._kept.get(context.session, {}).pop(context.call_id, None)
        if plan is None:
            raise ToolError(f"what this would change is no longer known; {_AGAIN}")
        return plan

    def drop(self, session: SessionId) -> None:
        """Drop the plans of a session."""
        self._kept.pop(session, None)


def absolute_path(place: ResolvedPath) -> str:
    """Return the absolute path of a place, with links resolved."""
    return os.path.join(place.root, *place.parts)


# ---------------------------------------------------------------------------- planning


class ProposedEdits(Struct, frozen=True):
    """Edits computed by a language server, and a title for them."""

    title: str
    edits: tuple[FileEdit, ...]


def plan_edits(
    tool: str, args: dict[str, Any], wanted: ProposedEdits, context: ToolContext, stop: Event
) -> EditPlan:
    """Plan the edits of all files; raises ToolError when one of them may not or cannot be changed."""
    edits = [edit for edit in wanted.edits if edit.before != edit.after]
    if not edits:
        raise ToolError("nothing to change")
    if len(edits) > MAX_FILES:
        raise ToolError(f"this would change {len(edits)} files; at most {MAX_FILES} are changed at once")
    files: dict[str, FilePlan] = {}
    diffs, size = [], 0
    for edit in edits:
        if stop.is_set():
            raise ToolError("stopped before anything was changed")
        place = _place(tool, edit.path, context)
        if place.subject in files:
            raise ToolError(f"the language server names {printable(place.name)} twice; use edit_file")
        planned, diff = _planned(place, edit, context)
        files[place.subject] = planned
        diffs.append(diff)
        size += len(planned.before or b"") + len(planned.after or b"")
        if size > MAX_TOTAL_BYTES:
            raise ToolError(f"this would change files of more than {MAX_TOTAL_BYTES} bytes in all")
    return EditPlan(args, tuple(files.values()), wanted.title, "".join(diffs))


def _place(tool: str, path: str, context: ToolContext) -> ResolvedPath:
    """Resolve a file that a server names; raises ToolError for one behind a link or outside."""
    root = os.path.realpath(context.cwd)
    if not os.path.isabs(path) or os.path.realpath(path) != path:
        raise ToolError(f"this would change {printable(path)} through a symbolic link; use edit_file")
    is_inside = path.startswith(root.rstrip("/") + "/")
    try:
        place = resolve_path(tool, "write", os.path.relpath(path, root) if is_inside else path, context)
    except ToolError as error:
        raise ToolError(f"this would change {printable(path)}, outside the working directory") from error
    check_unprotected(absolute_path(place) if place.outside else place.real)
    return place


def _planned(place: ResolvedPath, edit: FileEdit, context: ToolContext) -> tuple[FilePlan, str]:
    name = printable(place.name)
    found = load_file(place, context, MAX_FILE_BYTES, reading=False)
    if found is None:
        if edit.before is not None or edit.after is None:
            raise ToolError(f"{name} no longer exists; {_AGAIN}")
        return FilePlan(place, None, _encoded(edit.after, b"", name)), new_file_diff(edit.after, name)
    try:
        document = parse_document(found.data)
    except UnicodeDecodeError as error:
        raise ToolError(f"{name} is not text and cannot be changed") from error
    if edit.before is None or _unmarked(edit.before, document) != document.text:
        raise ToolError(f"{name} differs from what the language server has seen; {_AGAIN}")
    if edit.after is None:
        return FilePlan(place, found.data, None), f"{name} is removed ({len(found.data)} bytes)\n"
    after = _unmarked(edit.after, document)
    diff = unified_diff(document.text, after, name)
    return FilePlan(place, found.data, _encoded(after, document.mark, name)), diff


def _unmarked(text: str, document: Document) -> str:
    return text.removeprefix("\ufeff") if document.mark else text


def _encoded(text: str, mark: bytes, name: str) -> bytes:
    try:
        data = Document(text, mark).encode()
    except UnicodeEncodeError as error:
        raise ToolError(f"the new text of {name} is not valid Unicode") from error
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"{name} would exceed maximum file size of {MAX_FILE_BYTES} bytes")
    return data


# ---------------------------------------------------------------------------- execution


class _Step(Struct, frozen=True):
    """One file of a plan, and its current content."""

    planned: FilePlan
    old: LoadedFile | None

    @property
    def name(self) -> str:
        return printable(self.planned.place.name)


def apply_plan(plan: EditPlan, context: ToolContext, stop: Event) -> ToolOutput:
    """Make all edits of a plan; raises ToolError, and then restores what was changed; blocking."""
    steps = [_step(planned, context) for planned in plan.files]
    for path in plan.paths:
        context.keep(path)
    done: list[_Step] = []
    try:
        _write(steps, done, context.keep, stop)
    except BridleError as error:
        if stuck := _put_back(done, context):
            raise ToolError(f"{error}; could not be restored: {', '.join(stuck)}") from error
        raise
    seen = tuple(
        SeenFile(printable(planned.place.subject), sha256(planned.after).hexdigest())
        for planned in plan.files
        if planned.after is not None
    )
    shown = cap_output(plan.diff, MAX_SHOWN_BYTES, rest="read_file shows the files")
    return ToolOutput(
        f"{plan.title}\n{shown}".rstrip(),
        notes=(FilesSeen(seen),) if seen else (),
        diff=cap_output(plan.diff, MAX_PREVIEW_BYTES, rest="too long for a preview"),
    )


def _step(planned: FilePlan, context: ToolContext) -> _Step:
    found = load_file(planned.place, context, MAX_FILE_BYTES, reading=False)
    if (None if found is None else found.data) != planned.before:
        raise ToolError(f"{printable(planned.place.name)} was changed in the meantime; {_AGAIN}")
    return _Step(planned, found)


def _write(steps: Sequence[_Step], done: list[_Step], keep: Callable[[str], None], stop: Event) -> None:
    """Write all temporary files, then put them in place; `done` collects the steps that are in place."""
    with ExitStack() as stack:
        for step in steps:
            if step.planned.after is not None:
                stack.enter_context(_put(step, done, keep, stop))
    for step in steps:
        if step.planned.after is None and step.old is not None:
            with system_errors(step.planned.place.shown):
                remove_file(step.planned.place, stop=stop, expected=step.old.version, keep=keep)
            done.append(step)


@contextmanager
def _put(step: _Step, done: list[_Step], keep: Callable[[str], None], stop: Event) -> Iterator[None]:
    place, expected = step.planned.place, None if step.old is None else step.old.version
    with (
        system_errors(place.shown),
        open_replacement(place, stop=stop, expected=expected, keep=keep) as descriptor,
    ):
        _write_all(descriptor, step.planned.after or b"")
        yield
    done.append(step)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _put_back(done: Sequence[_Step], context: ToolContext) -> list[str]:
    """Undo the steps that are in place; return the names of files that could not be restored."""
    stuck = []
    for step in reversed(done):
        try:
            _undo(step, context)
        except (OSError, BridleError):
            stuck.append(step.name)
    return stuck


def _undo(step: _Step, context: ToolContext) -> None:
    place, never = step.planned.place, Event()

    def keep(path: str) -> None:
        """Keep nothing: the original was kept before, and is restored now."""

    found = load_file(place, context, MAX_FILE_BYTES, reading=False)
    if (None if found is None else found.data) != step.planned.after:
        raise ToolError("it was changed outside the session")
    if step.old is not None:
        expected = None if found is None else found.version
        with open_replacement(place, stop=never, expected=expected, keep=keep) as descriptor:
            _write_all(descriptor, step.old.data)
            os.fchmod(descriptor, step.old.mode)
    elif found is not None:
        remove_file(place, stop=never, expected=found.version, keep=keep)
