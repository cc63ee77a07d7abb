"""Convert HTML or PDF to text: a separate program that imports nothing of Bridle.

```
python -I -S converter.py FOLDER markdown|plain BASE_URL   LIMIT MEMORY_BYTES CPU_S  < html  > text
python -I -S converter.py FOLDER pdf            FIRST-LAST LIMIT MEMORY_BYTES CPU_S  < pdf   > text
```

A hostile file can cost minutes or gigabytes. That affects only this process: its CPU time and memory are
limited, and the parent can kill it.
"""

import io
import resource
import sys
from collections.abc import Iterator

LEFT_OUT = "script style title nav footer aside noscript iframe svg form template [hidden]".split()
REFUSED = 3
"""The exit status if the output says why a file cannot be converted."""


class RefusedError(Exception):
    """The file cannot be converted, for a reason that a person can use."""


def main() -> int:
    """Convert one file from stdin to stdout; return the exit status."""
    folder, form, place, limit, memory_bytes, cpu_s = sys.argv[1:]
    for kind, most in (
        (resource.RLIMIT_AS, int(memory_bytes)),
        (resource.RLIMIT_CPU, int(cpu_s)),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))
    sys.path.append(folder)
    data, out = sys.stdin.buffer.read(), sys.stdout.buffer
    if form != "pdf":
        html = data.decode(errors="replace").replace("\0", "\ufffd")
        out.write(convert(html, form, place).encode(errors="replace")[: int(limit)])
        return 0
    try:
        return write_pages(data, *map(int, place.split("-")), limit=int(limit))
    except RefusedError as error:
        out.write(str(error).encode())
        return REFUSED


def write_pages(data: bytes, first: int, last: int, *, limit: int) -> int:
    """Write the text of some pages of a PDF, each as soon as it is known; return the exit status."""
    left = limit
    for part in pages(data, first, last):
        piece = part.encode(errors="replace")
        sys.stdout.buffer.write(piece[:left])
        sys.stdout.buffer.flush()  # what is written survives the end of this process at its limits
        left -= len(piece)
        if left <= 0:
            sys.stdout.buffer.write(b"\n[the text is too long: read fewer pages at once]")
            return 0
    return 0


def pages(data: bytes, first: int, last: int) -> Iterator[str]:
    """Yield the text of each page below a line with its number, and a note if there are more pages."""
    from pypdf import PdfReader  # noqa: PLC0415
    from pypdf.errors import FileNotDecryptedError, PdfReadError  # noqa: PLC0415

    try:
        reader = PdfReader(io.BytesIO(data))
        count = len(reader.pages)
    except FileNotDecryptedError as error:
        raise RefusedError("it is encrypted with a password") from error
    except PdfReadError as error:
        raise RefusedError("it is damaged and cannot be read as a PDF") from error
    if first > count:
        raise RefusedError(f"no page {first}: it has {count} pages")
    for number in range(first, min(last, count) + 1):
        text = reader.pages[number - 1].extract_text().strip()
        shown = "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
        yield f"[page {number} of {count}]\n{shown or '[no text: it may be a scan]'}\n"
    if last < count:
        yield f"[{count - last} more pages; a range shows them]\n"


def convert(html: str, form: str, base_url: str) -> str:
    """Return the text of a page, with absolute links and the alt text of embedded images."""
    # Found in the folder that main() added to sys.path, where the library is installed.
    from turbohtml import Markdown, PlainText, Text, parse  # noqa: PLC0415

    page = parse(html)
    for element in page.select(", ".join(LEFT_OUT)):
        element.decompose()
    for image in page.select("img[src^='data:']"):
        image.replace_with(Text(str(image.attrs.get("alt") or "")))
    page.resolve_links(base_url)
    if form == "markdown":
        return page.to_markdown(Markdown()).strip()
    return page.to_text(PlainText(images=True, bullet="- ", table_cell_separator="\t")).strip()


if __name__ == "__main__":
    sys.exit(main())
