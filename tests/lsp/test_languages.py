"""Queries and edits with a well-behaved server, in all its variants."""

import asyncio
import os
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.language_servers import (
    CodeLocation,
    CodeProblem,
    FileEdit,
    ProblemChanges,
    Span,
    SymbolInfo,
    SymbolQuery,
)
from bridle.core.permission import Rule
from bridle.core.ports import SandboxKind
from bridle.core.server_views import ServerView
from bridle.lsp.languages import LocalLanguages
from bridle.lsp.settings import FolderLanguages
from bridle.sandbox import LocalSandbox
from tests.lsp.conftest import MakeLanguages, environment, player, write

MANNERS = [(), ("versionless",), ("pull",), ("late-pull",), ("versionless", "stale")]


def undefined(path: Path, line: int, column: int, name: str) -> CodeProblem:
    span = Span(str(path), line, column, line, column + len(name))
    return CodeProblem(span, "error", f"{name} is not defined", "toy")


@pytest.mark.parametrize("manners", MANNERS, ids=" ".join)
async def test_an_edit_brings_exactly_what_is_new(
    make: MakeLanguages, project: Path, manners: tuple[str, ...]
):
    languages = make(player("toy", *manners))
    write(project, a_toy="def one\nuse old\n", b_toy="use one\nuse old\n")
    a, b = project / "a.toy", project / "b.toy"
    await languages.problems(str(b), str(project))

    watching = await languages.before_edit((str(a),), str(project))
    a.write_text("# moved\n\ndef two\nuse old\nuse new\n")
    news = await watching.news()

    assert news == ProblemChanges(
        appeared=(undefined(a, 5, 5, "new"), undefined(b, 1, 5, "one")), gone=0, remaining=2
    )


async def test_an_edit_that_mends_something_says_how_much(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="use one\nuse one\nuse two\n")

    watching = await languages.before_edit((str(project / "a.toy"),), str(project))
    write(project, a_toy="def one\nuse one\nuse one\nuse two\n# use two\n")
    news = await watching.news()

    assert news == ProblemChanges(appeared=(undefined(project / "a.toy", 5, 7, "two"),), gone=2, remaining=1)


async def test_files_that_come_and_go_are_told(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="def one\nuse lost\n", b_toy="use one\nuse old\n")
    a, b, c = (project / name for name in ("a.toy", "b.toy", "c.toy"))
    await languages.problems(str(b), str(project))

    watching = await languages.before_edit((str(a), str(c)), str(project))
    a.rename(c)
    c.write_text("def three\nuse none\n")
    news = await watching.news()

    appeared = (undefined(b, 1, 5, "one"), undefined(c, 2, 5, "none"))
    assert news == ProblemChanges(appeared=appeared, gone=1, remaining=1)


async def test_an_edit_of_something_that_no_server_serves_is_no_news(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_txt="use one\n")

    watching = await languages.before_edit((str(project / "a.txt"), "/elsewhere/a.toy"), str(project))

    assert await watching.news() == ProblemChanges()
    assert await languages.views(str(project)) == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
async def test_columns_are_characters_in_every_encoding(make: MakeLanguages, project: Path, encoding: str):
    languages = make(player("toy", encoding))
    write(project, a_toy="# 𝒳é def one\n# é𝒳𝒳 use one\nuse none\n")
    path = str(project / "a.toy")

    found = await languages.look("references", SymbolQuery("one", path, 2), str(project))
    renamed = await languages.rename(SymbolQuery("one", path), "𝒵", str(project))

    assert found == (
        CodeLocation(Span(path, 1, 10, 1, 13), "# 𝒳é def one"),
        CodeLocation(Span(path, 2, 11, 2, 14), "# é𝒳𝒳 use one"),
    )
    before = "# 𝒳é def one\n# é𝒳𝒳 use one\nuse none\n"
    assert renamed == (FileEdit(path, before, before.replace("one\n", "𝒵\n", 2).replace("n𝒵", "none")),)


async def test_ends_of_lines_and_a_byte_order_mark_survive_a_renaming(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    text = "\ufeffdef one\r\nuse one\r\n"
    (project / "a.toy").write_bytes(text.encode())

    renamed = await languages.rename(SymbolQuery("one", str(project / "a.toy"), 1), "two", str(project))

    assert renamed == (FileEdit(str(project / "a.toy"), text, text.replace("one", "two")),)


async def test_symbols_of_a_file_and_of_the_project(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="def one\ndef only\n", b_toy="def on\n")
    for name in ("a.toy", "b.toy"):
        await languages.problems(str(project / name), str(project))

    def symbol(file: str, line: int, name: str) -> SymbolInfo:
        span = Span(str(project / file), line, 5, line, 5 + len(name))
        return SymbolInfo(name, "function", span, span)

    one, only, on = symbol("a.toy", 1, "one"), symbol("a.toy", 2, "only"), symbol("b.toy", 1, "on")

    assert await languages.symbols(str(project / "a.toy"), str(project)) == (one, only)
    assert await languages.find("on", str(project)) == (on, one, only)


async def test_a_symbol_is_found_by_name_alone(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    (project / "deep").mkdir()
    write(project, a_toy="use far\n", b_txt="def far\n")
    (project / "deep/c.toy").write_text("\ndef far\n")

    found = await languages.look("definition", SymbolQuery("far"), str(project))

    assert found == (CodeLocation(Span(str(project / "deep/c.toy"), 2, 5, 2, 8), "def far"),)


async def test_a_symbol_without_ripgrep_is_found_by_reading(make: MakeLanguages, project: Path):
    languages = make(player("toy"), environ={"PATH": "/nonexistent"})
    write(project, a_toy="use far\n", b_toy="def far\n")

    found = await languages.look("definition", SymbolQuery("far"), str(project))

    assert found == (CodeLocation(Span(str(project / "b.toy"), 1, 5, 1, 8), "def far"),)


@pytest.mark.parametrize(
    ("spot", "message"),
    [
        (SymbolQuery("same"), "'same' is ambiguous: {0}/a.toy:1, {0}/b.toy:1"),
        (SymbolQuery("nowhere"), "'nowhere' does not occur in {0}"),
        (SymbolQuery("nowhere", "{0}/a.toy"), "'nowhere' does not occur in {0}/a.toy"),
        (SymbolQuery("same", "{0}/a.toy", 2), "'same' is not in line 2 of {0}/a.toy; it is in lines 1, 3"),
        (SymbolQuery("same", "{0}/a.toy", 99), "'same' is not in line 99 of {0}/a.toy; it is in lines 1, 3"),
        (SymbolQuery("none", "{0}/a.toy", 1), "'none' is not in line 1 of {0}/a.toy; nor elsewhere"),
        (SymbolQuery(" . "), "' . ' is not the name of a symbol"),
        (SymbolQuery("same", "{0}/missing.toy"), "{0}/missing.toy does not exist"),
        (
            SymbolQuery("same", "/etc/passwd.toy"),
            "/etc/passwd.toy is outside the project {0}, so no language server covers it",
        ),
        (SymbolQuery("same", "{0}/a.txt"), "no known language server for files like a.txt"),
    ],
    ids=lambda value: value.symbol if isinstance(value, SymbolQuery) else "",
)
async def test_a_spot_that_is_not_clear_is_explained(
    make: MakeLanguages, project: Path, spot: SymbolQuery, message: str
):
    languages = make(player("toy"))
    write(project, a_toy="def same\nuse other\nuse same\n", b_toy="def same\n", a_txt="same\n")
    for name in ("a.toy", "b.toy"):
        await languages.problems(str(project / name), str(project))
    asked = SymbolQuery(spot.symbol, spot.path.format(project), spot.line)

    with pytest.raises(ToolError) as caught:
        await languages.look("definition", asked, str(project))

    assert caught.value.message == message.format(project)


async def test_a_line_and_a_column_say_which(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="# x def x\n")
    path = str(project / "a.toy")

    found = await languages.rename(SymbolQuery("x", path, 1, 9), "y", str(project))

    assert found == (FileEdit(path, "# x def x\n", "# x def y\n"),)


async def test_what_cannot_be_renamed_is_said(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="# plain\ndef one\n")
    path = str(project / "a.toy")

    with pytest.raises(ToolError, match=r"'plain' at .*a\.toy:1 cannot be renamed"):
        await languages.rename(SymbolQuery("plain", path), "two", str(project))
    with pytest.raises(ToolError, match="is not a valid name"):
        await languages.rename(SymbolQuery("one", path), "a\nb", str(project))
    with pytest.raises(ToolError, match="toy: renaming 'one' to 'one' changes nothing"):
        await languages.rename(SymbolQuery("one", path), "one", str(project))
    with pytest.raises(ToolError, match="toy cannot find callers and callees"):
        await languages.look("incoming_calls", SymbolQuery("one", path), str(project))


async def test_a_file_that_others_edit_is_read_again(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="def one\n", b_toy="use one\n")
    a, b = project / "a.toy", project / "b.toy"
    await languages.problems(str(a), str(project))
    before = await languages.problems(str(b), str(project))

    a.write_text("def another\n")
    after = await languages.problems(str(b), str(project))
    a.unlink()
    found = await languages.problems(str(project), str(project))

    assert (before, after) == ((), (undefined(b, 1, 5, "one"),))
    assert found == after


async def test_files_on_the_disk_are_told_to_who_wants_to_hear_it(make: MakeLanguages, project: Path):
    languages = make(player("toy", "watch", root_markers=("toy.config",)))
    write(project, a_toy="def one\n", b_toy="", toy_config="")
    await languages.problems(str(project / "a.toy"), str(project))
    opened = languages._project(languages._load(str(project)))
    await opened.notice_changes()

    write(project, a_toy="def two\n", c_toy="", toy_config="new", d_txt="")
    (project / "b.toy").unlink()
    opened._scanned_s = 0.0
    await languages.problems(str(project / "a.toy"), str(project))
    (instance,) = opened.running()
    await languages.symbols(str(project / "a.toy"), str(project))

    assert sorted(instance.words) == ["1 c.toy", "2 toy.config", "3 b.toy"]


async def test_two_servers_of_one_file_are_both_asked(make: MakeLanguages, project: Path):
    other = player("rogue", "strangers", str(project), "/outside", name="other")
    languages = make(player("toy"), other)
    write(project, a_toy="use one\n")
    path = str(project / "a.toy")

    found = await languages.problems(path, str(project))
    renamed = await languages.rename(SymbolQuery("one", path), "two", str(project))

    here = CodeProblem(Span(path, 1, 1, 1, 2), "error", "here", "other")
    assert found == (here, undefined(project / "a.toy", 1, 5, "one"))
    assert renamed == (FileEdit(path, "use one\n", "use two\n"),)


async def test_of_a_family_one_serves(make: MakeLanguages, project: Path):
    missing = player("toy", name="missing", family="toys", command=("no-such-program",))
    second = player("toy", name="second", family="toys")
    third = player("toy", name="third", family="toys")
    languages = make(missing, second, third)
    write(project, a_toy="use one\n")

    found = await languages.problems(str(project / "a.toy"), str(project))
    views = await languages.views(str(project))

    assert [problem.source for problem in found] == ["second"]
    assert [view.name for view in views] == ["second"]


async def test_a_touched_file_is_known_soon(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="use one\n")

    for _ in range(100):
        languages.touch(str(project / "a.toy"), str(project))
    tasks = len(languages._tasks)
    await asyncio.wait(set(languages._tasks), timeout=20)
    opened = languages._project(languages._load(str(project)))
    (instance,) = opened.running()

    assert tasks == 8
    assert instance.documents.get(str(project / "a.toy")) is not None


async def test_what_it_serves(make: MakeLanguages, project: Path):
    languages = make(player("toy"), player("toy", name="none", command=("no-such",), extensions=(".none",)))
    write(project, a_toy="", b_none="")

    asked = [
        str(project / "a.toy"),
        str(project / "new.toy"),
        str(project / "b.none"),
        str(project),
        "/x.toy",
    ]

    assert [languages.serves(path, str(project)) for path in asked] == [True, True, False, True, False]


async def test_views_say_how_each_server_is(make: MakeLanguages, project: Path):
    missing = player("toy", name="missing", command=("no-such",), extensions=(".none",), install="get it")
    unused = player("toy", name="unused", extensions=(".unused",))
    toy = player("toy")
    languages = make(toy, missing, unused)
    write(project, a_toy="", b_none="")

    before = await languages.views(str(project))
    await languages.problems(str(project / "a.toy"), str(project))
    (after, _) = await languages.views(str(project))

    program, root = toy.command[0], str(project)
    assert before == (
        ServerView("lsp", "toy", "idle", program, root),
        ServerView("lsp", "missing", "off", "not found: get it", root),
    )
    assert after.pid > 0
    assert after == ServerView("lsp", "toy", "ready", program, root, pid=after.pid)


async def test_a_program_that_was_missing_is_found_when_it_is_there(
    make: MakeLanguages, project: Path, tmp_path: Path
):
    program = tmp_path / "toy-server"
    languages = make(player("toy", command=(str(program), *player("toy").command[1:])), confined=False)
    write(project, a_toy="use one\n")
    path = str(project / "a.toy")

    with pytest.raises(ToolError, match="toy is not found"):
        await languages.problems(path, str(project))
    program.symlink_to(player("toy").command[0])

    assert await languages.problems(path, str(project)) == (undefined(project / "a.toy", 1, 5, "one"),)


async def test_changed_settings_count_at_once(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="use one\n")
    first = await languages.problems(str(project / "a.toy"), str(project))
    other = make(player("toy", name="renamed"))
    languages._load = other._load

    second = await languages.problems(str(project / "a.toy"), str(project))

    assert [problem.source for problem in first + second] == ["toy", "renamed"]


async def test_nothing_starts_where_nothing_confines_and_nobody_trusts(make: MakeLanguages, project: Path):
    languages = make(player("toy"), trusted=False, confined=False)
    write(project, a_toy="use one\n")
    path = str(project / "a.toy")

    with pytest.raises(ToolError) as caught:
        await languages.problems(path, str(project))
    watching = await languages.before_edit((path,), str(project))
    why = "it would run without a sandbox: trust the project first (bridle trust)"

    assert caught.value.message == f"toy is not started: {why}"
    assert await watching.news() == ProblemChanges()
    assert languages.serves(path, str(project)) is False
    assert await languages.views(str(project)) == (ServerView("lsp", "toy", "untrusted", why, str(project)),)


async def test_nothing_starts_without_a_sandbox_unless_the_user_wants_none(project: Path):
    """Also where the project is trusted: what its files make a server run may have changed since."""
    folder = FolderLanguages(str(project), (player("toy"),), trusted=True, environ=environment())
    languages = LocalLanguages(lambda _: folder, LocalSandbox(home="/nonexistent", kind="none"))
    write(project, a_toy="use one\n")

    with pytest.raises(ToolError) as caught:
        await languages.problems(str(project / "a.toy"), str(project))
    await languages.aclose()

    assert caught.value.message.startswith("toy is not started: no sandbox is available on this machine (")
    assert "set lsp.sandbox = false in your own settings" in caught.value.message


async def test_a_server_cannot_change_the_project(make: MakeLanguages, project: Path):
    """What becomes of files is for rules and people to decide, also when a server writes by itself."""
    program = project / "writer"
    cache = "mkdir -p $XDG_CACHE_HOME/x && echo $XDG_CACHE_HOME > build/out"
    program.write_text(f"#!/bin/sh\necho x > a.toy; echo x > new.toy; {cache}; exit 1\n")
    program.chmod(0o755)
    (project / "build").mkdir()
    languages = make(player("toy", command=(str(program),), writes=("build",)))
    write(project, a_toy="use one\n")

    with pytest.raises(ToolError):
        await languages.problems(str(project / "a.toy"), str(project))

    assert sorted(str(path.relative_to(project)) for path in project.rglob("*")) == [
        "a.toy",
        "build",
        "build/out",
        "writer",
    ]
    assert (project / "a.toy").read_text() == "use one\n"
    assert (project / "build/out").read_text() == "/tmp/cache\n"


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_in_an_untrusted_project_a_server_writes_nothing_and_sees_nothing_else(
    make: MakeLanguages, project: Path, kind: SandboxKind
):
    """A server starts without approval, and may run what the project names."""
    outside = project.parent / "outside"
    writable = project.parent / "writable"
    server = project.parent / "bin" / "server"
    for folder in (outside, writable, server.parent, project / "build"):
        folder.mkdir()
    (outside / "notes").write_text("private")
    write(project, a_toy="use one\n")
    writes = f"for f in a.toy new build/out {writable}/out {outside}/notes; do echo x > $f; done 2>/dev/null"
    server.write_text(f"#!/bin/sh\n{writes}\ncat {outside}/notes a.toy >&2; exit 1\n")
    server.chmod(0o755)
    languages = make(
        player("toy", command=(str(server),), writes=("build",)),
        trusted=False,
        writable=(str(writable),),
        kind=kind,
    )
    before = {path: path.read_text() for path in project.parent.rglob("*") if path.is_file()}

    with pytest.raises(ToolError) as caught:
        await languages.problems(str(project / "a.toy"), str(project))

    assert "use one" in caught.value.message
    assert "private" not in caught.value.message
    assert before == {path: path.read_text() for path in project.parent.rglob("*") if path.is_file()}


@pytest.mark.parametrize("given", [{}, {"TOY_HOME": "{home}/elsewhere"}, {"TOY_HOME": "{home}"}])
async def test_in_an_untrusted_project_a_server_sees_its_installation(
    make: MakeLanguages, project: Path, given: dict[str, str]
):
    home = project.parent / "home"
    server = project.parent / "bin" / "server"
    for folder in (home / ".toy", home / "elsewhere", server.parent):
        folder.mkdir(parents=True)
    (home / ".toy/part").write_text("usual")
    (home / "elsewhere/part").write_text("named")
    (home / "part").write_text("private")
    server.write_text('#!/bin/sh\ncat "${TOY_HOME:-$HOME/.toy}/part" >&2; exit 1\n')
    server.chmod(0o755)
    environ = {
        **environment(),
        "HOME": str(home),
        **{name: at.format(home=home) for name, at in given.items()},
    }
    known = player("toy", command=(str(server),), reads=(("TOY_HOME", ".toy"),))
    languages = make(known, trusted=False, environ=environ)
    write(project, a_toy="use one\n")

    with pytest.raises(ToolError) as caught:
        await languages.problems(str(project / "a.toy"), str(project))

    seen = {word for word in ("usual", "named", "private") if word in caught.value.message}
    assert seen == ({"usual"} if not given else {"named"} if "elsewhere" in given["TOY_HOME"] else set())


async def test_a_server_works_where_the_project_of_a_file_begins(make: MakeLanguages, project: Path):
    languages = make(player("toy", root_markers=("toy.config",)))
    for folder in ("one", "two/deep", "plain"):
        (project / folder).mkdir(parents=True)
        (project / folder / "a.toy").write_text("")
    (project / "one/toy.config").write_text("")
    (project / "two/toy.config").write_text("")

    for folder in ("one", "two/deep", "plain"):
        await languages.problems(str(project / folder / "a.toy"), str(project))
    views = await languages.views(str(project))

    assert [view.cwd for view in views] == [str(project / "one"), str(project / "two"), str(project)]


async def test_settings_may_change_while_a_thread_asks(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="use one\n")
    path = str(project / "a.toy")
    await languages.problems(path, str(project))
    (before,) = await languages.views(str(project))
    languages._load = make(player("toy", name="renamed"))._load

    served = await asyncio.to_thread(languages.serves, path, str(project))
    await languages.problems(path, str(project))
    await asyncio.gather(*languages._tasks)
    (after,) = await languages.views(str(project))

    assert served is True
    assert (before.name, after.name) == ("toy", "renamed")
    assert not Path(f"/proc/{before.pid}").exists()


async def test_landlock_holds_a_server_too(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    languages._sandbox = LocalSandbox(home="/nonexistent", kind="landlock")
    write(project, a_toy="use one\n")
    path = project / "a.toy"

    watching = await languages.before_edit((str(path),), str(project))
    path.write_text("use one\nuse two\n")

    assert await watching.news() == ProblemChanges(appeared=(undefined(path, 2, 5, "two"),), remaining=1)


async def test_a_folder_whose_name_is_no_text_can_be_served(make: MakeLanguages, project: Path):
    odd = Path(os.fsdecode(os.fsencode(project) + b"/\xff"))
    odd.mkdir()
    languages = make(player("toy"))
    folder = replace(languages._load(""), root=str(odd))
    languages._load = lambda _: folder
    (odd / "a.toy").write_text("use one\n")

    assert await languages.problems(str(odd / "a.toy"), str(odd)) == (undefined(odd / "a.toy", 1, 5, "one"),)


async def test_what_is_no_text_is_not_sent(make: MakeLanguages, project: Path):
    languages = make(player("toy"))
    write(project, a_toy="def one\n")

    assert await languages.find("\ud800", str(project)) == ()
    with pytest.raises(ToolError, match="is not the name of a symbol"):
        await languages.look("definition", SymbolQuery("a\0b"), str(project))
    assert [one.name for one in await languages.find("one", str(project))] == ["one"]


async def test_a_server_cannot_read_what_rules_deny(project: Path, make: MakeLanguages):
    write(project, a_toy="def one")
    (project / "keys").write_text("hidden")
    code = "import sys; sys.exit(open('keys').read())"
    spy = player("toy", command=(sys.executable, "-S", "-c", code))

    with pytest.raises(ToolError) as caught:
        await make(spy, denied=(Rule("deny", "read_file", "keys"),)).symbols(
            str(project / "a.toy"), str(project)
        )

    assert "PermissionError" in str(caught.value)
    assert "hidden" not in str(caught.value)


async def test_a_server_cannot_write_where_a_link_in_the_place_of_its_build_folder_leads(
    project: Path, make: MakeLanguages
):
    write(project, a_toy="def one")
    elsewhere = project.parent / "elsewhere"
    elsewhere.mkdir()
    (project / "target").symlink_to("../elsewhere")
    code = "open('target/new', 'w').write('x')"
    spy = player("toy", command=(sys.executable, "-S", "-c", code), writes=("target",))

    with pytest.raises(ToolError, match="Error: "):
        await make(spy).symbols(str(project / "a.toy"), str(project))

    assert list(elsewhere.iterdir()) == []
