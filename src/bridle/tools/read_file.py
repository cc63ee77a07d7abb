"""The tool that shows text with line numbers, an image, a PDF by pages, a notebook, or stored output."""

import os
import re
from base64 import b64encode
from contextlib import suppress
from hashlib import sha256
from io import BufferedReader, BytesIO
from threading import Event
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import StoreError, ToolError
from bridle.core.messages import MAX_IMAGE_BYTES, Media, image_type
from bridle.core.ports import Blobs, ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.tools.converter_process import convert_pdf
from bridle.tools.edits import parse_document
from bridle.tools.filesystem import error_reason, open_file, version_of
from bridle.tools.notebook import SUFFIX as NOTEBOOK_SUFFIX
from bridle.tools.notebook import NotebookError, read_cells, show_cells
from bridle.tools.numbered_lines import MAX_SHOWN_BYTES, LineRange, is_binary, read_numbered
from bridle.tools.paths import ResolvedPath, printable
from bridle.tools.threads import run_in_thread
from bridle.tools.tool_support import (
    MAX_FILE_BYTES,
    WithoutPreview,
    description,
    integer_arg,
    parameters,
    path_access,
    resolve_path,
    system_errors,
    text_arg,
)
from bridle.tools.visibility import VisibilityFilter, hard_link_error

BLOB = "blob:"
MAX_PDF_BYTES = 50 * 1024 * 1024
MAX_PAGES = 20  # of one call
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CHANGING = "\n[the file was written to while it was read: this may be neither its old nor its new content]"


class _Request(Struct, frozen=True):
    place: ResolvedPath
    lines: LineRange
    sees_images: bool
    visible: VisibilityFilter


class _Pdf(Struct, frozen=True):
    """A PDF that was read and not yet converted."""

    name: str
    data: bytes
    notes: tuple[FilesSeen, ...]
    text: str = ""
    """What is shown after the pages."""


class ReadFile(WithoutPreview):
    """The tool that shows a text file or some of its lines, with line numbers, or an image."""

    parallel = True

    def __init__(self, max_bytes: int = MAX_FILE_BYTES, blobs: Blobs | None = None) -> None:
        """Set how many bytes one call shows at most; `blobs` holds output that was too long to show."""
        self._max_bytes = max_bytes
        self._blobs = blobs

    @property
    def spec(self) -> ToolSpec:
        """The tool definition sent to the model."""
        return ToolSpec("read_file", description("read_file"), _READ_PARAMETERS)

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        """Return the access to the file, and to its target if it is a link."""
        path = text_arg(args, "path")
        if path.startswith(BLOB):
            return Access("read_file", "read", (Subject("text", printable(path)),))
        return path_access("read_file", "read", args, context)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        """Return the numbered lines; bytes that are not UTF-8 are shown as escapes, with a note."""
        path = text_arg(args, "path")
        lines = LineRange(max(1, integer_arg(args, "start_line") or 1), integer_arg(args, "end_line"))
        if path.startswith(BLOB):
            return ToolOutput(
                await run_in_thread(lambda stop: self._blob(path.removeprefix(BLOB), lines, stop))
            )

        def read(stop: Event) -> ToolOutput | _Pdf:
            place = resolve_path("read_file", "read", path, context)
            visible = VisibilityFilter("read_file", context, hidden=("deny",))
            return self._read(_Request(place, lines, context.sees_images, visible), stop)

        found = await run_in_thread(read)
        return found if isinstance(found, ToolOutput) else await _pages(found, lines)

    def _read(self, request: _Request, stop: Event) -> ToolOutput | _Pdf:
        """Read a file; read it once more if it was written to meanwhile."""
        output, is_settled = self._read_once(request, stop)
        if not is_settled:
            output, is_settled = self._read_once(request, stop)
        return output if is_settled else replace(output, text=output.text + _CHANGING, notes=())

    def _read_once(self, request: _Request, stop: Event) -> tuple[ToolOutput | _Pdf, bool]:
        with _open(request) as file, system_errors(request.place.shown, reading=True):
            found = os.fstat(file.fileno())
            if request.visible.is_denied_elsewhere(found):
                raise hard_link_error(printable(request.place.name))
            before = version_of(found)
            output = self._shown(request, file, stop)
            return output, version_of(os.fstat(file.fileno())) == before

    def _shown(self, request: _Request, file: BufferedReader, stop: Event) -> ToolOutput | _Pdf:
        start = file.peek(16)
        if mime := image_type(start):
            return _image(request, mime, file)
        if start.startswith(b"%PDF-"):
            return _pdf(request, file)
        if is_binary(file):
            raise ToolError(f"{printable(request.place.name)} is a binary file; only text can be read")
        limit = max(self._max_bytes, MAX_FILE_BYTES)
        data = file.read(limit + 1)
        if len(data) > limit:
            file.seek(0)
            return ToolOutput(read_numbered(file, request.lines, max_bytes=self._max_bytes, stop=stop))
        return ToolOutput(self._text(request, data, stop), notes=_seen(request.place, data))

    def _text(self, request: _Request, data: bytes, stop: Event) -> str:
        """Return the cells of a notebook, or the lines of any other file."""
        if request.place.name.lower().endswith(NOTEBOOK_SUFFIX):
            with suppress(NotebookError, UnicodeDecodeError):
                cells = read_cells(parse_document(data).text)
                return show_cells(cells, request.lines, max_bytes=self._max_bytes, stop=stop)
        return read_numbered(BytesIO(data), request.lines, max_bytes=self._max_bytes, stop=stop)

    def _blob(self, digest: str, lines: LineRange, stop: Event) -> str:
        """Return stored output; a very long line is split into several, so that all of it can be shown."""
        if not _DIGEST.fullmatch(digest):
            raise ToolError("blob: is followed by 64 hexadecimal digits", hint="copy them from the note")
        if self._blobs is None:
            raise ToolError("no output is stored here")
        try:
            text = self._blobs.get(digest).decode(errors="replace")
        except StoreError as error:
            raise ToolError(f"no output is stored under blob:{digest}: {error.message}") from error
        return read_numbered(BytesIO(_wrapped(text)), lines, max_bytes=self._max_bytes, stop=stop)


def _wrapped(text: str) -> bytes:
    # A character has at most four bytes, so read_numbered cuts no piece again.
    return re.sub(rf"[^\n]{{{MAX_SHOWN_BYTES // 4}}}(?=[^\n])", r"\g<0>\n", text).encode()


def _open(request: _Request) -> BufferedReader:
    place = request.place
    shown = printable(place.shown)
    try:
        return open_file(place)
    except FileNotFoundError as error:
        from bridle.tools.hints import similar_paths  # noqa: PLC0415  loads difflib, only for this message

        near = similar_paths(place, request.visible)
        hint = f"did you mean {' or '.join(near)}?" if near else ""
        raise ToolError(f"open {shown}: {error_reason(error)}", hint=hint) from error
    except IsADirectoryError as error:
        raise ToolError(
            f"read {shown}: {error_reason(error)}", hint="list_files shows what is in it"
        ) from error
    except OSError as error:
        raise ToolError(f"open {shown}: {error_reason(error)}") from error


def _image(request: _Request, mime: str, file: BufferedReader) -> ToolOutput:
    name = printable(request.place.name)
    if not request.sees_images:
        raise ToolError(f"{name} is an image ({mime}), which this model cannot see")
    data = file.read(MAX_IMAGE_BYTES + 1)
    if len(data) > MAX_IMAGE_BYTES:
        raise ToolError(f"{name} is an image of more than {MAX_IMAGE_BYTES} bytes, too large to be shown")
    media = Media(mime, b64encode(data).decode(), os.path.basename(name))
    return ToolOutput(f"{name}: {mime}, {len(data)} bytes", media=(media,), notes=_seen(request.place, data))


def _pdf(request: _Request, file: BufferedReader) -> _Pdf:
    name = printable(request.place.name)
    data = file.read(MAX_PDF_BYTES + 1)
    if len(data) > MAX_PDF_BYTES:
        raise ToolError(f"{name} is a PDF of more than {MAX_PDF_BYTES} bytes, too large to be read")
    return _Pdf(name, data, _seen(request.place, data))


async def _pages(pdf: _Pdf, wanted: LineRange) -> ToolOutput:
    last = wanted.start + MAX_PAGES - 1
    if wanted.end is not None:
        last = max(wanted.start, min(wanted.end, last))
    text = await convert_pdf(pdf.data, pdf.name, wanted.start, last)
    return ToolOutput(text.rstrip("\n") + pdf.text, notes=pdf.notes)


def _seen(place: ResolvedPath, data: bytes) -> tuple[FilesSeen]:
    return (FilesSeen((SeenFile(printable(place.subject), sha256(data).hexdigest()),)),)


_READ_PARAMETERS = parameters(
    1,
    path=("string", ""),
    start_line=("integer", ""),
    end_line=("integer", ""),
)
