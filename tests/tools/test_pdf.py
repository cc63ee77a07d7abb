"""PDF files: their text page by page, however hostile the file is."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.core.ports import ToolContext
from bridle.tools import ReadFile, converter_process
from bridle.tools.converter_process import convert_pdf
from bridle.tools.read_file import MAX_PDF_BYTES


def pdf(*pages: str, draw: str = "") -> bytes:
    """Make a PDF with a line of text on each page; `draw` replaces what the pages draw."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = draw or (f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET" if text else "")
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream")
    return assembled(objects)


def assembled(objects: list[str], trailer: str = "") -> bytes:
    data, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
    return data + f"{end}startxref\n{len(data)}\n%%EOF\n".encode()


async def read(context: ToolContext, **args: Any) -> str:
    return (await ReadFile().run({"path": "a.pdf", **args}, context)).text


async def refusal(context: ToolContext, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await read(context, **args)
    return str(caught.value)


async def test_pages_are_shown_with_their_numbers(cwd: Path, context: ToolContext):
    (cwd / "a.pdf").write_bytes(pdf("Hello", "", "Third"))

    assert await read(context) == (
        "[page 1 of 3]\nHello\n[page 2 of 3]\n[no text: it may be a scan]\n[page 3 of 3]\nThird"
    )


async def test_a_range_counts_pages(cwd: Path, context: ToolContext):
    (cwd / "a.pdf").write_bytes(pdf("one", "two", "three"))

    assert await read(context, start_line=2, end_line=2) == (
        "[page 2 of 3]\ntwo\n[1 more pages; a range shows them]"
    )
    assert await read(context, start_line=3) == "[page 3 of 3]\nthree"
    assert await refusal(context, start_line=4) == "a.pdf: no page 4: it has 3 pages"


@pytest.mark.parametrize("args", [{}, {"start_line": 1, "end_line": 1000}])
async def test_one_call_shows_at_most_twenty_pages(cwd: Path, context: ToolContext, args: Any):
    (cwd / "a.pdf").write_bytes(pdf(*map(str, range(25))))

    lines = (await read(context, **args)).splitlines()

    assert lines[-3:] == ["[page 20 of 25]", "19", "[5 more pages; a range shows them]"]


async def test_the_version_that_was_read_is_remembered(cwd: Path, context: ToolContext):
    (cwd / "a.pdf").write_bytes(pdf("Hello"))

    [note] = (await ReadFile().run({"path": "a.pdf"}, context)).notes

    assert [file.path for file in note.files] == ["a.pdf"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.4", "it is damaged"),
        (b"%PDF-1.4\n" + os.urandom(2000), "damaged"),
        (pdf("x")[:200], "damaged"),
        (assembled(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R] >>"]), "damaged"),
        (assembled(["<< /Type /Catalog /Pages 1 0 R >>"]), "damaged"),
        (assembled(["[" * 50_000]), "damaged"),
    ],
    ids=range(6),
)
async def test_a_damaged_file_is_an_error_and_no_more(
    cwd: Path, context: ToolContext, data: bytes, said: str
):
    (cwd / "a.pdf").write_bytes(data)

    message = await refusal(context)

    assert message.startswith("a.pdf")
    assert said in message or "no page 1: it has 0 pages" in message


async def test_an_encrypted_file_says_so(cwd: Path, context: ToolContext):
    encrypt = f"<< /Filter /Standard /V 1 /R 2 /P -4 /O <{'11' * 32}> /U <{'22' * 32}> >>"
    data = assembled(
        ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>", encrypt],
        f"/Encrypt 3 0 R /ID [<{'33' * 16}> <{'33' * 16}>]",
    )
    (cwd / "a.pdf").write_bytes(data)

    assert await refusal(context) == "a.pdf: it is encrypted with a password"


async def test_pages_before_the_limit_of_time_are_kept():
    slow = pdf("x", draw="BT /F1 12 Tf " + "(abc) Tj 1 0 0 1 1 1 Tm " * 200_000 + "ET")

    with pytest.raises(ToolError, match=r"a\.pdf is damaged, or too complex to convert"):
        await convert_pdf(slow, "a.pdf", 1, 1, cpu_s=1)


async def test_a_file_that_needs_too_much_memory_is_refused():
    with pytest.raises(ToolError, match=r"a\.pdf is damaged, or too complex to convert"):
        await convert_pdf(pdf("x"), "a.pdf", 1, 1, memory_bytes=24 * 1024 * 1024)


async def test_a_large_file_is_not_converted(cwd: Path, context: ToolContext):
    (cwd / "a.pdf").write_bytes(b"%PDF-1.4\n")
    os.truncate(cwd / "a.pdf", MAX_PDF_BYTES + 1)

    assert await refusal(context) == (
        f"a.pdf is a PDF of more than {MAX_PDF_BYTES} bytes, too large to be read"
    )


async def test_control_characters_are_not_shown(cwd: Path, context: ToolContext):
    (cwd / "a.pdf").write_bytes(pdf("a\\033[31mb"))

    assert "\x1b" not in await read(context)


async def test_a_cancelled_call_leaves_no_process():
    task = asyncio.create_task(convert_pdf(pdf("x"), "a.pdf", 1, 1))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_without_the_library_no_file_of_the_project_takes_its_place(
    cwd: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
):
    (cwd / "a.pdf").write_bytes(pdf("Hello"))
    (cwd / "pypdf.py").write_text("open('taken', 'w')")
    monkeypatch.chdir(cwd)
    monkeypatch.setattr(converter_process, "find_spec", lambda name: None)
    converter_process._library_folder.cache_clear()

    assert "the library pypdf is missing" in await refusal(context)
    assert not (cwd / "taken").exists()
