"""The tools for background jobs: list them, read their output, kill them."""

import codecs
from typing import Any

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, ToolSpec
from bridle.tools.secrets import Masker
from bridle.tools.shell.output_buffer import OutputBuffer, OutputSlice
from bridle.tools.shell.result import format_state
from bridle.tools.shell.running_command import RunningCommand
from bridle.tools.shell.session_shells import Job, SessionShells
from bridle.tools.shell.terminal_text import MAX_OPEN_ESCAPE, clean_output, escape_invisible, open_escape
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import WithoutPreview, description, integer_arg, parameters

# ---------------------------------------------------------------------------- pieces
# Read an output piece by piece, without splitting characters, escape sequences or secrets.


def read_slice(ring: OutputBuffer, cursor: int, limit: int, *, is_over: bool) -> OutputSlice:
    """Read from a position; end at a line end if more follows, and never inside a character."""
    piece = ring.read(cursor, limit)
    data = piece.data
    if piece.end < ring.total:
        cut = data.rfind(b"\n") + 1
        if cut > len(data) // 2:
            return OutputSlice(data[:cut], piece.start)
    elif is_over:
        return piece
    return OutputSlice(data[: _whole_end(data)] or data, piece.start)


def mask_slice(ring: OutputBuffer, piece: OutputSlice, masker: Masker) -> str:
    """Return a piece as masked text, including secrets that extend across one of its ends."""
    first = _neighbour(ring, max(0, piece.start - masker.longest), piece.start)
    last = _neighbour(ring, piece.end, piece.end + masker.longest)
    data = first + piece.data + last
    begin, end = len(first), len(first) + len(piece.data)
    shown, position = [], begin
    for start, stop, label in masker.spans(data):
        if stop > begin and start < end:
            shown += [data[position : max(start, begin)], label]
            position = min(stop, end)
    return masker.mask(clean_output(b"".join([*shown, data[position:end]])))


def _neighbour(ring: OutputBuffer, start: int, end: int) -> bytes:
    """Return the bytes next to a piece that are still kept; they may end where the ring starts."""
    data = b""
    while start + len(data) < end:
        piece = ring.read(start + len(data), end - start - len(data))
        if piece.start != start + len(data) or not piece.data:
            break
        data += piece.data
    return data


def _whole_end(data: bytes) -> int:
    """Return where a character or escape sequence starts that the end of the data cuts off."""
    _, whole = codecs.utf_8_decode(data, "replace", False)
    start = max(0, whole - MAX_OPEN_ESCAPE)
    return start + open_escape(data[start:whole].decode("latin-1"))


# ---------------------------------------------------------------------------- jobs


MAX_WAIT_S = 60
_SETTLE_S = 0.2  # collects several writes into one read
_KILL_GRACE_S = 2.0
_MAX_SHOWN_CHARS = 100


class Jobs(WithoutPreview):
    """The tool that lists the background jobs of the session."""

    parallel = True
    seldom = True

    def __init__(self, shells: SessionShells) -> None:
        """Share the shells with the other tools."""
        self._shells = shells

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("jobs", description("shell/jobs"), parameters(0))

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the call concerns only the session's own jobs."""
        return Access("jobs", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return one line per job, oldest first."""
        lines = [self._line(job) for job in self._shells.jobs(context.session)]
        return ToolOutput("\n".join(lines) or "[no jobs]")

    def _line(self, job: Job) -> str:
        running = job.running
        state = format_state(running, self._shells.settings)
        return f"{job.number}: {state}, {running.ring.total} bytes: {_shown(running.command)}"


class JobOutput(WithoutPreview):
    """The tool that shows the output of a job."""

    parallel = True
    seldom = True

    def __init__(self, shells: SessionShells, masker: Masker) -> None:
        """Share the shells with the other tools."""
        self._shells = shells
        self._masker = masker

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("job_output", description("shell/job_output"), _OUTPUT_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the call concerns only the session's own jobs."""
        return Access("job_output", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the output from a position, where to continue reading, and the state of the job."""
        job = self._shells.job(integer_arg(args, "job"), context.session)
        running, ring = job.running, job.running.ring
        max_bytes = self._shells.settings.max_result_bytes
        limit = _bounded(args, "limit", 1, max_bytes) or max_bytes
        wait_s = _bounded(args, "wait", 0, MAX_WAIT_S) or 0
        cursor = _bounded(args, "cursor", 0, None)
        cursor = job.cursor if cursor is None else min(cursor, ring.total)
        if wait_s and ring.total <= cursor:
            await running.printed(cursor, wait_s)
            await running.ended(_SETTLE_S)
        await running.settle()
        is_over = running.status is not None
        piece = await run_in_thread(lambda _: read_slice(ring, cursor, limit, is_over=is_over))
        text = await run_in_thread(lambda _: mask_slice(ring, piece, self._masker))
        job.cursor = piece.end
        lost = [f"[bytes {cursor} to {piece.start} are no longer kept]"] if piece.start > cursor else []
        rest = f", {ring.total - piece.end} bytes more to read" if ring.total > piece.end else ""
        state = format_state(running, self._shells.settings)
        end = f"[job {job.number}: {state}; next cursor {piece.end}{rest}]"
        notes = [*_put_away(running), end]
        return ToolOutput("\n".join([*lost, text.rstrip("\n") if text else "[no new output]", *notes]))


class JobKill(WithoutPreview):
    """The tool that kills a job."""

    parallel = False
    seldom = True

    def __init__(self, shells: SessionShells) -> None:
        """Share the shells with the other tools."""
        self._shells = shells

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("job_kill", description("shell/job_kill"), parameters(1, job=_JOB))

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return a read access: the session may always end what it was allowed to start."""
        return Access("job_kill", "read")

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Kill the job and everything it started, and return its last state."""
        job = self._shells.job(integer_arg(args, "job"), context.session)
        if job.running.status is not None:
            state = format_state(job.running, self._shells.settings)
            return ToolOutput(f"job {job.number} had ended already: {state}")
        await job.running.stop(_KILL_GRACE_S)
        state = f"job {job.number}: {format_state(job.running, self._shells.settings)}"
        return ToolOutput("\n".join([state, *_put_away(job.running)]))


def _put_away(running: RunningCommand) -> list[str]:
    return [f"[{sentence}]" for sentence in running.put_away]


def _shown(command: str) -> str:
    line = escape_invisible(command).replace("\n", " ↵ ")
    return line if len(line) <= _MAX_SHOWN_CHARS else f"{line[: _MAX_SHOWN_CHARS - 1]}…"


def _bounded(args: dict[str, Any], key: str, low: int, high: int | None) -> int | None:
    value = integer_arg(args, key)
    if value is not None and (value < low or (high is not None and value > high)):
        raise ToolError(f"{key} must be {f'from {low} to {high}' if high is not None else f'{low} or more'}")
    return value


_JOB = ("integer", "")
_OUTPUT_PARAMETERS = parameters(
    1,
    job=_JOB,
    cursor=("integer", "Byte to read from"),
    wait=("integer", f"Seconds, at most {MAX_WAIT_S}"),
    limit=("integer", "Bytes"),
)
