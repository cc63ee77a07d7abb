"""Format a command's result for the model: its output, cut to a size, and how it ended."""

import signal

from bridle.core.errors import StoreError
from bridle.core.ports import Blobs
from bridle.tools.secrets import Masker
from bridle.tools.shell.output_buffer import OutputBuffer
from bridle.tools.shell.running_command import RunningCommand
from bridle.tools.shell.settings import ShellSettings
from bridle.tools.shell.terminal_text import clean_output
from bridle.tools.toolbox import cap_output

_STEP = 1024 * 1024
_NO_FORK = ("fork: retry: Resource temporarily unavailable", "fork: Resource temporarily unavailable")


def output_text(ring: OutputBuffer, masker: Masker, limit: int, blobs: Blobs | None) -> str:
    """Return an output, cut to head and tail if it is long; blocking. A long one is stored in the blobs."""
    text = _whole_text(ring, masker)
    if len(text.encode()) <= limit:
        return text
    rest = "run the command again with its output in a file to see it"
    if blobs is not None:
        try:
            rest = f'read_file with path "blob:{blobs.put(text.encode())}" shows it, in ranges of lines'
        except StoreError as error:
            rest = f"it could not be stored: {error.message}"
    return cap_output(text, limit, rest=rest)


def _whole_text(ring: OutputBuffer, masker: Masker) -> str:
    texts: list[str] = []
    pieces: list[bytes] = []
    position, total = 0, ring.total
    while position < total:
        piece = ring.read(position, min(_STEP, total - position))
        if piece.start > position:
            lost = min(piece.start, total) - position
            texts += [
                masker.mask(clean_output(b"".join(pieces))),
                f"\n[{lost} bytes are no longer available]\n",
            ]
            pieces = []
        pieces.append(piece.data)
        position = max(piece.end, position + 1)
    return "".join([*texts, masker.mask(clean_output(b"".join(pieces)))])


def format_ending(running: RunningCommand, settings: ShellSettings) -> list[str]:
    """Return a note on how a command ended; empty when it succeeded."""
    match running.ended_by:
        case "timeout":
            return [f"ended after {running.timeout_s:g} s; start long work with background=true"]
        case "output":
            return [f"ended because it printed more than {settings.max_output_bytes} bytes"]
        case "request":
            return ["ended on request"]
        case "itself":
            return [_status_words(running.status or 0, settings)] if running.status else []


def format_state(running: RunningCommand, settings: ShellSettings) -> str:
    """Return the state of a job in a few words."""
    if running.status is None:
        return f"running for {running.age_s:.0f} s"
    words = format_ending(running, settings) or ["exit status 0"]
    return f"{words[0]}, after {running.age_s:.0f} s"


def limit_notes(text: str, running: RunningCommand, settings: ShellSettings) -> list[str]:
    """Return notes on the limits that affected a command or its output."""
    notes = []
    if running.ring.failure:
        notes.append(f"only the start of the output was kept: {running.ring.failure}")
    if running.kept_error:
        notes.append(f"a change was refused because it could not be undone: {running.kept_error}")
    notes += running.put_away
    if settings.max_processes and running.status and any(words in text for words in _NO_FORK):
        notes.append(f"it reached the limit of {settings.max_processes} processes")
    return notes


def _status_words(status: int, settings: ShellSettings) -> str:
    words = f"exit status {status}"
    try:
        name = signal.Signals(status - 128).name
    except ValueError:
        return words
    why = {
        "SIGKILL": f", perhaps for using more than {settings.memory_bytes} bytes of memory"
        if settings.memory_bytes
        else "",
        "SIGXCPU": f": more than {settings.cpu_s} s of processor time",
        "SIGXFSZ": f": a file grew beyond {settings.max_file_bytes} bytes",
        "SIGSYS": ": the sandbox does not allow this system call",
    }
    return f"{words}, ended by {name}{why.get(name, '')}"
