"""The manual pages match the command line, are valid roff, and are up to date."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bridle.surfaces.cli.parser import COMMAND_ADDERS
from scripts.make_man import FOLDER, make_pages, quoted, text

REQUESTS = {".TH", ".SH", ".SS", ".TP", ".B", ".BR", ".PP", ".br", ".nf", ".fi", ".sp"}
PAGES = make_pages()


def problems_of(page: str) -> list[str]:
    """Return problems for roff."""
    lines = page.splitlines()
    found = [
        f"unknown request {line}" for line in lines if line[:1] in ".'" and line.split()[0] not in REQUESTS
    ]
    found += [
        f"an escape in {line}" for line in lines if re.search(r"\\(?![e&\-]|\((?:ga|aq|dq|mu|en))", line)
    ]
    found += [f"an empty line {number}" for number, line in enumerate(lines) if not line.strip()]
    depth = 0
    for line in lines:
        depth += {".nf": 1, ".fi": -1}.get(line, 0)
        if depth not in (0, 1):
            found.append("nf and fi are not pairs")
    return found + (["nf is open at the end"] if depth else [])


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_is_good_roff(name: str):
    page = PAGES[name]
    sections = [line for line in page.splitlines() if line.startswith(".SH")]

    assert problems_of(page) == []
    assert page.startswith(f".TH {name.removesuffix('.1').upper()} 1 ")
    assert (sections[0], sections[-1]) == (".SH NAME", ".SH SEE ALSO")
    assert ".SH SYNOPSIS" in sections


def test_every_command_has_its_page():
    assert set(PAGES) == {"bridle.1", *(f"bridle-{name}.1" for name in COMMAND_ADDERS)}
    assert all(f"\n.B bridle {name}\n" in PAGES["bridle.1"] for name in COMMAND_ADDERS if "-" not in name)
    assert "\n.B \\-\\-max\\-turns N\n" in PAGES["bridle-run.1"]
    assert '\n.SH "BRIDLE IMPORT CLAUDE"\n' in PAGES["bridle-import.1"]


def test_the_pages_in_the_tree_are_up_to_date():
    assert {path.name: path.read_text() for path in FOLDER.glob("*.1")} == PAGES, "make man"


def test_a_program_that_knows_finds_nothing_wrong(tmp_path: Path):
    groff = shutil.which("groff")
    if groff is None:
        return  # the checker above has looked at every page
    (tmp_path / "all.1").write_text("".join(PAGES.values()))
    done = subprocess.run(
        [groff, "-man", "-ww", "-Tutf8", "-z", "all.1"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_words_are_never_requests():
    assert text(".x\n'y\n\na\\b `c` -d") == "\\&.x\n\\(aqy\n.sp\na\\eb \\(gac\\(ga \\-d"
    assert quoted('say "hi"') == '"say \\(dqhi\\(dq"'
    assert problems_of(".xx\n\\f(CW\n.nf\n") != []
