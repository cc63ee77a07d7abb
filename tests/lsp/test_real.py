"""Real language servers: basedpyright, ruff, typescript-language-server and clangd."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.language_servers import CodeLocation, FileEdit, Span, SymbolQuery
from bridle.core.ports import SandboxKind
from bridle.lsp.catalogue import KNOWN
from bridle.lsp.settings import LanguageServer, Timeouts
from tests.lsp.conftest import BIN, MakeLanguages
from tests.node_servers import PACKAGES, node, script

PACE = Timeouts(reading_s=30.0, working_s=30.0)
"""Patience for a busy machine."""

PYTHON = {
    "pyproject.toml": "[project]\nname = 'shapes'\n",
    "shapes.py": """\
def area(width: int, height: int) -> int:
    return width * height


old: int = 'wrong'
""",
    "double.py": """\
from shapes import area


def double(size: int) -> int:
    return area(size, 2)
""",
    "main.py": """\
import os
from double import double
from shapes import area

print('𝒳', area(1, double(2)))
""",
}
TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"strict": true, "types": []}}',
    "shapes.ts": """\
export function area(width: number, height: number): number {
  return width * height;
}
const old: number = 'wrong';
""",
    "double.ts": """\
import { area } from './shapes';
export const double = (size: number): number => area(size, 2);
""",
    "main.ts": """\
import { area } from './shapes';
export const all = '𝒳' + area(1, double(2));
""",
}
C = {
    "compile_flags.txt": "-xc++\n-std=c++17\n",
    "shapes.hpp": """\
#pragma once
int area(int width, int height);
struct A { int run(); };
struct B { int run(); };
""",
    "shapes.cpp": """\
#include "shapes.hpp"
int area(int width, int height) { return width * height; }
int *old = 3;
""",
    "main.cpp": """\
#include "shapes.hpp"
int twice(int size) { return area(size, 2); }
int A::run() { return twice(1); }
""",
}


def known(name: str, **more: Any) -> LanguageServer:
    return replace(next(one for one in KNOWN if one.name == name), start_timeout_s=40.0, **more)


def typescript() -> LanguageServer:
    command = (node(), script("typescript-language-server"), "--stdio")
    usual = known("typescript")
    options = {**usual.init_options["tsserver"], "path": str(PACKAGES / "typescript" / "lib")}
    return replace(usual, command=command, init_options={"tsserver": options})


def clangd() -> LanguageServer:
    return known("clangd", command=(str(BIN / "clangd"), "--background-index=0", "-j=2"))


def write(project: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (project / name).write_text(text)


class Here:
    """Places of a project, in short."""

    def __init__(self, project: Path) -> None:
        self.project = project

    def path(self, name: str) -> str:
        return str(self.project / name)

    def found(self, name: str, line: int, column: int, word: str, symbol: str = "") -> CodeLocation:
        text = (self.project / name).read_text().split("\n")[line - 1].strip()
        return CodeLocation(Span(self.path(name), line, column, line, column + len(word)), text, symbol)

    def renamed(self, name: str, old: str, new: str) -> FileEdit:
        text = (self.project / name).read_text()
        return FileEdit(self.path(name), text, text.replace(old, new))


@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
@pytest.mark.parametrize(
    ("server", "files", "edited", "change", "expected"),
    [
        (
            known("basedpyright"),
            PYTHON,
            "shapes.py",
            ("height: int", "height: str"),
            {
                ("shapes.py", 4, "reportReturnType"),
                ("double.py", 5, "reportArgumentType"),
                ("main.py", 5, "reportArgumentType"),
            },
        ),
        (
            typescript(),
            TYPESCRIPT,
            "shapes.ts",
            ("height: number", "height: string"),
            {("shapes.ts", 4, "2363"), ("double.ts", 2, "2345")},
        ),
        (
            clangd(),
            C,
            "shapes.cpp",
            ("int height", "char *height"),
            {("shapes.cpp", 4, "typecheck_invalid_operands")},
        ),
        (known("ruff"), PYTHON, "main.py", ("print(", "print(missing, "), {("main.py", 7, "F821")}),
    ],
    ids=["basedpyright", "typescript", "clangd", "ruff"],
)
async def test_an_edit_that_breaks_something_shows_exactly_the_new_errors(
    make: MakeLanguages,
    project: Path,
    server: LanguageServer,
    files: dict[str, str],
    edited: str,
    change: tuple[str, str],
    expected: set[tuple[str, int, str]],
    trusted: bool,
):
    languages = make(server, pace=PACE, wait_s=30.0, trusted=trusted)
    write(project, files)
    for name in files:
        if languages.serves(str(project / name), str(project)):
            await languages.problems(str(project / name), str(project))
    path = project / edited

    watching = await languages.before_edit((str(path),), str(project))
    path.write_text("\n\n" + path.read_text().replace(*change))
    news = await watching.news()

    found = {(Path(one.span.path).name, one.span.line, one.code) for one in news.appeared}
    assert (found, news.gone, news.late) == (expected, 0, ())
    assert news.remaining > 0


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_a_project_that_is_not_trusted_has_diagnostics(
    make: MakeLanguages, project: Path, kind: SandboxKind
):
    languages = make(known("basedpyright"), known("ruff"), pace=PACE, trusted=False, kind=kind)
    write(project, PYTHON)

    problems = await languages.problems(str(project / "main.py"), str(project))

    assert {one.source for one in problems} == {"basedpyright", "Ruff"}
    assert sorted(path.name for path in project.iterdir()) == sorted(PYTHON)


@pytest.mark.parametrize(
    ("server", "files"),
    [(known("basedpyright"), PYTHON), (typescript(), TYPESCRIPT), (clangd(), C)],
    ids=["basedpyright", "typescript", "clangd"],
)
async def test_a_symbol_is_renamed_in_three_files(
    make: MakeLanguages, project: Path, server: LanguageServer, files: dict[str, str]
):
    """Also in a project that is not trusted: the server works out the edit, and writes nothing."""
    languages = make(server, pace=PACE, trusted=False)
    write(project, files)
    names = [name for name in sorted(files) if "area" in files[name]]
    if server.name == "clangd":  # it knows what was opened, without an index
        for name in names:
            await languages.symbols(str(project / name), str(project))

    renamed = await languages.rename(SymbolQuery("area", str(project / names[-1])), "surface", str(project))

    assert renamed == tuple(Here(project).renamed(name, "area", "surface") for name in names)
    assert len(renamed) == 3


async def test_basedpyright_answers_every_question(make: MakeLanguages, project: Path):
    languages = make(known("basedpyright"), pace=PACE)
    write(project, PYTHON)
    here, cwd = Here(project), str(project)

    definition = await languages.look("definition", SymbolQuery("area", here.path("main.py"), 5), cwd)
    references = await languages.look("references", SymbolQuery("area"), cwd)
    incoming = await languages.look("incoming_calls", SymbolQuery("double", here.path("double.py")), cwd)
    outgoing = await languages.look("outgoing_calls", SymbolQuery("double"), cwd)
    outline = await languages.symbols(here.path("double.py"), cwd)
    anywhere = await languages.find("area", cwd)
    (project / "names.py").write_text(
        "def outer(inner: int) -> int:\n    return inner\n\n\ndef inner(): ...\n"
    )
    outermost = await languages.look("definition", SymbolQuery("inner", here.path("names.py")), cwd)

    assert outermost == (here.found("names.py", 5, 5, "inner"),)
    assert definition == (here.found("shapes.py", 1, 5, "area"),)
    assert references == (
        here.found("double.py", 1, 20, "area"),
        here.found("double.py", 5, 12, "area"),
        here.found("main.py", 3, 20, "area"),
        here.found("main.py", 5, 12, "area"),
        here.found("shapes.py", 1, 5, "area"),
    )
    assert incoming == (here.found("main.py", 5, 20, "double", "(module) main.py"),)
    assert outgoing == (here.found("shapes.py", 1, 5, "area", "area"),)
    assert [(one.name, one.kind, one.container, one.depth) for one in outline] == [
        ("double", "function", "", 0),
        ("size", "variable", "double", 1),
    ]
    assert outline[0].span == Span(here.path("double.py"), 4, 1, 5, 25)
    assert [(one.name, one.span.path) for one in anywhere] == [("area", here.path("shapes.py"))]


async def test_typescript_answers_and_mends(make: MakeLanguages, project: Path):
    languages = make(typescript(), pace=PACE)
    write(project, TYPESCRIPT)
    here, cwd, main = Here(project), str(project), str(project / "main.ts")

    definition = await languages.look("definition", SymbolQuery("area", main, 2), cwd)
    incoming = await languages.look("incoming_calls", SymbolQuery("area", main), cwd)
    offered = await languages.fixes(main, 2, 2, cwd)
    wanted = next(one for one in offered if one.title.startswith(("Add import", "Update import")))
    (mended,) = await languages.fix(main, 2, 2, wanted.id, cwd)
    extracted = next(one for one in offered if one.title == "Extract to constant in enclosing scope")
    (extraction,) = await languages.fix(main, 2, 2, extracted.id, cwd)

    assert definition == (here.found("shapes.ts", 1, 17, "area"),)
    assert incoming == (
        here.found("double.ts", 2, 49, "area", "double"),
        here.found("main.ts", 2, 26, "area", "main.ts"),
    )
    text = TYPESCRIPT["main.ts"]
    assert mended == FileEdit(main, text, "import { double } from './double';\n" + text)
    assert str(extraction.after).endswith(
        "const newLocal = '𝒳' + area(1, double(2));\nexport const all = newLocal;\n"
    )
    assert sorted(path.name for path in project.iterdir()) == sorted(TYPESCRIPT)


async def test_clangd_tells_symbols_of_the_same_name_apart(make: MakeLanguages, project: Path):
    languages = make(clangd(), pace=PACE)
    write(project, C)
    here, cwd = Here(project), str(project)

    with pytest.raises(ToolError, match=r"'run' is ambiguous: .*shapes\.hpp:3, .*shapes\.hpp:4"):
        await languages.look("definition", SymbolQuery("run", here.path("shapes.hpp")), cwd)
    method = await languages.look("definition", SymbolQuery("A::run", here.path("main.cpp")), cwd)
    callers = await languages.look("incoming_calls", SymbolQuery("twice", here.path("main.cpp")), cwd)

    assert method == (here.found("shapes.hpp", 3, 16, "run"),)
    assert callers == (here.found("main.cpp", 3, 23, "twice", "run"),)


async def test_ruff_mends_imports_beside_basedpyright(make: MakeLanguages, project: Path):
    languages = make(known("basedpyright"), known("ruff"), pace=PACE)
    write(project, PYTHON)
    path, text = str(project / "main.py"), PYTHON["main.py"]

    problems = await languages.problems(path, str(project))
    offered = await languages.fixes(path, 1, 1, str(project))
    unused = next(one for one in offered if one.title == "Ruff (F401): Remove unused import: `os`")
    organise = next(one for one in offered if one.kind.startswith("source.organizeImports"))
    renamed = await languages.rename(SymbolQuery("double", path, 5), "twice", str(project))

    assert {one.source for one in problems} == {"basedpyright", "Ruff"}
    assert await languages.fix(path, 1, 1, unused.id, str(project)) == (
        FileEdit(path, text, text.removeprefix("import os\n")),
    )
    assert await languages.fix(path, 1, 1, organise.id, str(project)) == (
        FileEdit(path, text, text.replace("import os\n", "import os\n\n")),
    )
    assert [Path(one.path).name for one in renamed] == ["double.py", "main.py"]
