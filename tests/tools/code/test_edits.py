"""Edits over several files: foreseen, judged, previewed, and made in all of them or in none."""

import asyncio
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import StoreError, ToolError
from bridle.core.language_servers import CodeAction, FileEdit, ProblemChanges, SymbolInfo, SymbolQuery
from bridle.core.permission import judge
from bridle.core.ports import AccessResolvingTool, SessionTool, Tool, ToolContext, ToolOutput, implements
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.core.tool import Access, Subject
from bridle.tools.code import code_tools
from bridle.tools.code.edit_plans import MAX_FILES, MAX_PLANS
from tests.tools.code.fake import FakeLanguages, call, in_call, problem, renamed, span

NAMES = ("a.py", "b.py", "pkg/c.py")
RENAME = {"symbol": "price", "new_name": "cost"}
DIFF = (
    "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n-def price():\n+def cost():\n     return 1\n"
    "--- b.py\n+++ b.py\n@@ -1,3 +1,3 @@\n-from a import price\n+from a import cost\n \n"
    "-print(price())\n+print(cost())\n"
    "--- pkg/c.py\n+++ pkg/c.py\n@@ -1,3 +1,3 @@\n import a\r\n \r\n-a.price()\r\n+a.cost()\r\n"
)


@pytest.fixture
def languages(project: Path) -> FakeLanguages:
    fake = FakeLanguages()
    fake.edits = renamed(project, "price", names=NAMES)
    return fake


def everything(folder: Path) -> dict[str, bytes]:
    """Return all files, including leftovers."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


async def foresee(tool: Tool, args: dict[str, Any], context: ToolContext) -> None:
    assert implements(tool, AccessResolvingTool)
    await tool.foresee(args, context)


async def refusal(tool: Tool, args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await call(tool, args, context)
    return str(caught.value)


def seen(project: Path, *names: str) -> FilesSeen:
    return FilesSeen(
        tuple(SeenFile(name, sha256((project / name).read_bytes()).hexdigest()) for name in names)
    )


# ---------------------------------------------------------------------------- rename


async def test_a_rename_is_foreseen_judged_shown_and_made(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    tool, before, kept = tools["rename_symbol"], everything(project), list[str]()
    context = in_call(context, "c1", keep=kept.append)
    (project / "a.py").chmod(0o755)

    await foresee(tool, RENAME, context)
    access = tool.access(RENAME, context)
    preview = await tool.preview(RENAME, context)
    untouched = everything(project)
    output = await tool.run(RENAME, context)

    assert access == Access("rename_symbol", "write", tuple(Subject("path", name) for name in NAMES))
    assert preview == DIFF
    assert untouched == before
    assert everything(project) == before | {
        "a.py": b"def cost():\n    return 1\n",
        "b.py": b"from a import cost\n\nprint(cost())\n",
        "pkg/c.py": b"import a\r\n\r\na.cost()\r\n",
    }
    assert (project / "a.py").stat().st_mode & 0o777 == 0o755
    assert output == ToolOutput(
        f"Renamed price to cost in 3 files\n{DIFF}".rstrip(), notes=(seen(project, *NAMES),), diff=DIFF
    )
    assert set(kept) == {str(project / name) for name in NAMES}
    assert languages.asked[0] == ("rename", SymbolQuery("price"), "cost", str(project))


async def test_a_working_directory_may_be_a_link(
    tools: dict[str, Tool], project: Path, tmp_path: Path, context: ToolContext
):
    (tmp_path / "link").symlink_to(project)

    output = await call(tools["rename_symbol"], RENAME, in_call(context, cwd=str(tmp_path / "link")))

    assert output.diff == DIFF


async def test_what_was_foreseen_is_what_is_made(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    """A user who approved a diff gets exactly that diff, or no change."""
    tool, context = tools["rename_symbol"], in_call(context)
    await foresee(tool, RENAME, context)
    (project / "b.py").write_text("price = 2\n")
    before = everything(project)

    await foresee(tool, RENAME, context)

    assert await tool.preview(RENAME, context) == DIFF
    with pytest.raises(ToolError, match=r"^b\.py was changed in the meantime; call it again$"):
        await tool.run(RENAME, context)
    assert everything(project) == before
    assert [asked[0] for asked in languages.asked] == ["rename", "before_edit"]


async def test_another_call_is_foreseen_anew(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    tool = tools["rename_symbol"]
    await foresee(tool, RENAME, in_call(context))

    assert await tool.preview(RENAME, in_call(context, "c2")) == ""
    assert await tool.preview(RENAME | {"new_name": "fee"}, in_call(context)) == ""
    await foresee(tool, RENAME | {"new_name": "fee"}, in_call(context))
    assert "+def fee" in await tool.preview(RENAME | {"new_name": "fee"}, in_call(context))


async def test_a_call_that_was_not_foreseen_does_not_run(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    tool, context = tools["rename_symbol"], in_call(context)
    unknown = "what this would change is no longer known; call it again"

    with pytest.raises(ToolError, match=unknown):
        await tool.run(RENAME, context)
    await call(tool, RENAME, context)
    with pytest.raises(ToolError, match=unknown):  # it has run
        await tool.run(RENAME, context)
    languages.edits = renamed(project, "cost", names=NAMES)
    await foresee(tool, RENAME | {"new_name": "fee"}, context)
    assert isinstance(tool, SessionTool)
    assert not tool.is_busy(context.session)
    await tool.end_session(context.session)
    await tool.aclose()
    with pytest.raises(ToolError, match=unknown):
        await tool.run(RENAME | {"new_name": "fee"}, context)

    assert (project / "a.py").read_text() == "def cost():\n    return 1\n"


async def test_plans_are_bounded(tools: dict[str, Tool], project: Path, context: ToolContext):
    tool = tools["rename_symbol"]
    for number in range(MAX_PLANS + 1):
        await foresee(tool, RENAME, in_call(context, f"c{number}"))

    previews = [await tool.preview(RENAME, in_call(context, f"c{number}")) for number in range(MAX_PLANS + 1)]

    assert previews == ["", *[DIFF] * MAX_PLANS]


async def test_a_link_that_a_call_names_is_judged_by_both_its_names(
    tools: dict[str, Tool], project: Path, context: ToolContext
):
    (project / "link.py").symlink_to("pkg/c.py")
    args, context = RENAME | {"path": "link.py"}, in_call(context)

    await foresee(tools["rename_symbol"], args, context)

    assert tools["rename_symbol"].access(args, context) == Access(
        "rename_symbol",
        "write",
        tuple(Subject("path", name) for name in ("link.py", "pkg/c.py", "a.py", "b.py")),
    )


@pytest.mark.parametrize(
    ("rule", "mode", "action"),
    [
        ("deny read_file(pkg/**)", "yolo", "deny"),
        ("deny edit_file(b.py)", "yolo", "deny"),
        ("deny rename_symbol(a.py)", "yolo", "deny"),
        ("deny rename_symbol", "yolo", "deny"),
        ("allow rename_symbol(*.py)", "ask", "ask"),
        ("allow rename_symbol(**)", "ask", "allow"),
        ("ask write_file(pkg/**)", "accept-edits", "ask"),
        ("allow *", "plan", "deny"),
        ("allow edit_file(**)", "ask", "ask"),
        ("allow edit_file(**)", "accept-edits", "allow"),
    ],
)
async def test_every_file_is_judged(
    tools: dict[str, Tool], project: Path, context: ToolContext, rule: str, mode: Any, action: str
):
    context = in_call(context, "c1", rule, mode=mode)

    await foresee(tools["rename_symbol"], RENAME, context)

    assert judge(tools["rename_symbol"].access(RENAME, context), context.rules, mode).action == action


async def test_a_denied_rename_is_not_even_looked_into(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    text = await refusal(tools["rename_symbol"], RENAME, in_call(context, mode="plan"))

    assert text == "denied by mode plan: no write access"
    assert languages.asked == []


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"new_name": "a b"}, "new_name cannot contain spaces"),
        ({"new_name": ""}, "new_name must be a name of 1 to 500 characters on one line"),
        ({"new_name": "x", "line": 2}, "line needs a path"),
        ({"new_name": "x", "path": ".git/config"}, ".git/config is protected; ask the user to change it"),
    ],
)
async def test_a_wrong_rename_is_refused(
    tools: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
    args: dict[str, Any],
    why: str,
):
    assert await refusal(tools["rename_symbol"], {"symbol": "price", **args}, in_call(context)) == why
    assert languages.asked == []


# ---------------------------------------------------------------------------- hostile edits


async def test_files_outside_behind_links_and_protected_ones_are_refused(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, outside: Path, context: ToolContext
):
    secret = outside / "secret.txt"
    (project / "out").symlink_to(outside)
    (project / "link.py").symlink_to("a.py")
    (project / ".git").mkdir()
    refused = {
        str(secret): f"this would change {secret}, outside the working directory",
        str(
            project / "out/secret.txt"
        ): f"this would change {project}/out/secret.txt through a symbolic link; use edit_file",
        str(
            project / "link.py"
        ): f"this would change {project}/link.py through a symbolic link; use edit_file",
        f"{project}/../outside/secret.txt": f"this would change {project}/../outside/secret.txt through a"
        " symbolic link; use edit_file",
        "a.py": "this would change a.py through a symbolic link; use edit_file",
        str(project / ".git/config"): ".git/config is protected; ask the user to change it",
        str(project): f"this would change {project}, outside the working directory",
    }
    texts = {}
    for path in refused:
        languages.edits = lambda new, path=path: (FileEdit(path, "secret\n", "x\n"),)
        texts[path] = await refusal(tools["rename_symbol"], RENAME, in_call(context))

    assert texts == refused
    assert secret.read_text() == "secret\n"


async def test_a_rule_opens_files_outside(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, outside: Path, context: ToolContext
):
    secret = outside / "secret.txt"
    languages.edits = lambda new: (FileEdit(str(secret), "secret\n", "open\n"),)

    output = await call(
        tools["rename_symbol"], RENAME, in_call(context, "c1", f"allow rename_symbol({outside}/**)")
    )

    assert secret.read_text() == "open\n"
    assert output.diff == f"--- {secret}\n+++ {secret}\n@@ -1,1 +1,1 @@\n-secret\n+open\n"


async def test_a_hard_link_to_a_denied_file_is_not_changed(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    os.link(project / "secrets/key.py", project / "d.py")
    languages.edits = renamed(project, "KEY", names=("d.py",))

    text = await refusal(
        tools["rename_symbol"], RENAME, in_call(context, "c1", "deny read_file(secrets/**)", mode="yolo")
    )

    assert text == "d.py is another name of a file that a rule protects from reading"


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([], "nothing to change"),
        ([("a.py", "x", "x")], "nothing to change"),
        ([("a.py", "other\n", "x\n")], "a.py differs from what the language server has seen; call it again"),
        ([("a.py", None, "x\n")], "a.py differs from what the language server has seen; call it again"),
        ([("gone.py", "x\n", "y\n")], "gone.py no longer exists; call it again"),
        ([("gone.py", "x\n", None)], "gone.py no longer exists; call it again"),
        ([("bytes.py", "\udcff", "x")], "bytes.py is not text and cannot be changed"),
        ([("new.py", None, "\ud800")], "the new text of new.py is not valid Unicode"),
        (
            [("new.py", None, "a"), ("new.py", None, "b")],
            "the language server names new.py twice; use edit_file",
        ),
        (
            [(f"{number}.py", None, "a") for number in range(MAX_FILES + 1)],
            "this would change 201 files; at most 200 are changed at once",
        ),
        ([("new.py", None, "x" * 10_485_761)], "new.py would exceed maximum file size of 10485760 bytes"),
        (
            [(f"{number}.py", None, "x" * 10_000_000) for number in range(7)],
            "this would change files of more than 67108864 bytes in all",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_edits_that_do_not_fit_are_refused(
    tools: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
    edits: list[tuple[str, str | None, str | None]],
    why: str,
):
    (project / "bytes.py").write_bytes(b"\xff")
    before = everything(project)
    languages.edits = lambda new: tuple(FileEdit(str(project / name), old, to) for name, old, to in edits)

    assert await refusal(tools["rename_symbol"], RENAME, in_call(context)) == why
    assert everything(project) == before


async def test_files_are_made_moved_and_removed(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    before, kept = everything(project), list[str]()
    text = before["a.py"].decode()
    (project / "mark.py").write_bytes(b"\xef\xbb\xbfa = 1\n")
    languages.edits = lambda new: (
        FileEdit(str(project / "a.py"), text, None),
        FileEdit(str(project / "deep/er/a.py"), None, text),
        FileEdit(str(project / "mark.py"), "\ufeffa = 1\n", "\ufeffb = 1\n"),
    )

    output = await call(tools["rename_symbol"], RENAME, in_call(context, keep=kept.append))

    del before["a.py"]
    assert everything(project) == before | {
        "deep/er/a.py": text.encode(),
        "mark.py": b"\xef\xbb\xbfb = 1\n",
    }
    assert output.diff == (
        "a.py is removed (26 bytes)\n"
        "--- /dev/null\n+++ deep/er/a.py\n@@ -0,0 +1,2 @@\n+def price():\n+    return 1\n"
        "--- mark.py\n+++ mark.py\n@@ -1,1 +1,1 @@\n-a = 1\n+b = 1\n"
    )
    assert output.notes == (seen(project, "deep/er/a.py", "mark.py"),)
    assert {str(project / name) for name in ("a.py", "deep", "deep/er/a.py", "mark.py")} <= set(kept)


# ---------------------------------------------------------------------------- all or nothing


@contextmanager
def no_file_above(size: int) -> Iterator[None]:
    """Let the system refuse to write larger files, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


async def test_a_full_disk_in_the_middle_changes_nothing(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    before, long = everything(project), "x" * 3_000_000
    languages.edits = lambda new: (
        FileEdit(str(project / "a.py"), before["a.py"].decode(), "a\n"),
        FileEdit(str(project / "new/d.py"), None, "d\n"),
        FileEdit(str(project / "b.py"), before["b.py"].decode(), long),
        FileEdit(str(project / "pkg/c.py"), before["pkg/c.py"].decode(), None),
    )

    with no_file_above(2_000_000):
        text = await refusal(tools["rename_symbol"], RENAME, in_call(context))

    assert text == f"open {project}/b.py: file too large"
    assert everything(project) == before
    assert not (project / "new").exists()


async def test_what_was_put_in_place_is_put_back_when_a_later_file_fails(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    (project / "b.py").chmod(0o750)
    before, kept = everything(project), list[str]()
    languages.edits = lambda new: (
        FileEdit(str(project / "a.py"), before["a.py"].decode(), "a\n"),
        FileEdit(str(project / "b.py"), before["b.py"].decode(), "b\n"),
        FileEdit(str(project / "d.py"), None, "d\n"),
    )
    done = {}

    def keep(path: str) -> None:
        kept.append(path)
        if kept.count(str(project / "a.py")) == 2:  # the last to be put in place
            done.update(everything(project))
            (project / "a.py").write_bytes(b"somebody else's\n")

    text = await refusal(tools["rename_symbol"], RENAME, in_call(context, keep=keep))

    assert text == "a.py was changed by another program just now; read it again"
    assert (done["b.py"], done["d.py"]) == (b"b\n", b"d\n")
    assert everything(project) == before | {"a.py": b"somebody else's\n"}
    assert (project / "b.py").stat().st_mode & 0o777 == 0o750


async def test_removed_files_come_back_with_their_modes(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    (project / "a.py").chmod(0o751)
    before, kept = everything(project), list[str]()
    languages.edits = lambda new: tuple(
        FileEdit(str(project / name), before[name].decode(), None) for name in NAMES[:2]
    )

    def keep(path: str) -> None:
        kept.append(path)
        if kept.count(str(project / "b.py")) == 2:
            raise StoreError("the disk is full")

    with pytest.raises(StoreError, match="the disk is full"):
        await call(tools["rename_symbol"], RENAME, in_call(context, keep=keep))

    assert everything(project) == before
    assert (project / "a.py").stat().st_mode & 0o777 == 0o751


async def test_what_cannot_be_put_back_is_named(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    before, kept = everything(project), list[str]()

    def keep(path: str) -> None:
        kept.append(path)
        if kept.count(str(project / "a.py")) == 2:
            (project / "b.py").write_bytes(b"a third one's\n")
            raise ToolError("no")

    text = await refusal(tools["rename_symbol"], RENAME, in_call(context, keep=keep))

    assert text == "no; could not be restored: b.py"
    assert everything(project) == before | {"b.py": b"a third one's\n"}


async def test_a_file_that_cannot_be_kept_stops_all(
    tools: dict[str, Tool], project: Path, context: ToolContext
):
    before = everything(project)

    def keep(path: str) -> None:
        if path.endswith("c.py"):
            raise StoreError("the disk is full")

    with pytest.raises(StoreError):
        await call(tools["rename_symbol"], RENAME, in_call(context, keep=keep))

    assert everything(project) == before


async def test_a_cancelled_edit_is_made_in_no_file(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    before = everything(project)
    tool, reached = tools["rename_symbol"], asyncio.Event()
    loop, count = asyncio.get_running_loop(), list[str]()

    def keep(path: str) -> None:
        count.append(path)
        if len(count) == 4:  # the first file is about to be put in place
            asyncio.run_coroutine_threadsafe(_cancel(), loop).result(5)

    async def _cancel() -> None:
        running.cancel()
        reached.set()

    context = in_call(context, keep=keep)
    await foresee(tool, RENAME, context)
    running = asyncio.ensure_future(tool.run(RENAME, context))
    with pytest.raises(asyncio.CancelledError):
        await running
    await reached.wait()

    assert everything(project) == before


# ---------------------------------------------------------------------------- news


async def test_an_edit_tells_its_news(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges((problem(project / "b.py", "price is gone"),))

    output = await call(tools["rename_symbol"], RENAME, in_call(context))

    assert output.text.endswith("\n\nNew problems (1):\nerror b.py:1:1 price is gone [fake E1]")
    assert languages.asked[1:] == [
        ("before_edit", tuple(str(project / name) for name in NAMES), str(project)),
        ("news",),
    ]


# ---------------------------------------------------------------------------- replace_symbol


@pytest.fixture
def shop(project: Path, languages: FakeLanguages) -> Path:
    path = project / "shop.py"
    path.write_text(
        "class Shop:\n    def open(self):\n        return 1\n\n    def close(self):\n        pass\n"
    )
    languages.symbols_of["shop.py"] = (
        SymbolInfo("Shop", "class", span(path, 1, 1, 6, 13), span(path, 1, 7)),
        SymbolInfo("open", "method", span(path, 2, 5, 3, 17), span(path, 2, 9), "Shop", 1),
        SymbolInfo("close", "method", span(path, 5, 5, 6, 13), span(path, 5, 9), "Shop", 1),
    )
    return path


async def test_a_symbol_is_replaced(
    tools: dict[str, Tool], languages: FakeLanguages, shop: Path, context: ToolContext
):
    args = {
        "symbol": "Shop.open",
        "path": "shop.py",
        "action": "replace",
        "text": "def open(self):\n    return 2\n",
    }

    output = await call(tools["replace_symbol"], args, in_call(context))

    assert shop.read_text() == (
        "class Shop:\n    def open(self):\n        return 2\n\n    def close(self):\n        pass\n"
    )
    assert output.text == (
        "Replaced method Shop.open in shop.py\n--- shop.py\n+++ shop.py\n@@ -1,6 +1,6 @@\n class Shop:\n"
        "     def open(self):\n-        return 1\n+        return 2\n \n     def close(self):\n         pass"
    )
    assert languages.asked[0] == ("symbols", str(shop), str(shop.parent))


@pytest.mark.parametrize(
    ("action", "text", "title"),
    [
        ("insert_before", "x = 1", "Inserted code before method open in shop.py"),
        ("insert_after", "x = 1", "Inserted code after method open in shop.py"),
        ("delete", None, "Deleted method open in shop.py"),
    ],
)
async def test_the_result_says_what_was_done(
    tools: dict[str, Tool], shop: Path, context: ToolContext, action: str, text: str | None, title: str
):
    args = {"symbol": "open", "path": "shop.py", "action": action} | ({} if text is None else {"text": text})

    output = await call(tools["replace_symbol"], args, in_call(context))

    assert output.text.split("\n")[0] == title


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"action": "burn"}, "action is one of replace, insert_before, insert_after, delete"),
        ({"action": "replace"}, "missing text"),
        ({"action": "replace", "text": "\n"}, "text is empty (hint: the action delete removes a symbol)"),
        (
            {"action": "delete", "symbol": "x"},
            "shop.py defines no x (hint: use symbols to list what it defines)",
        ),
        ({"action": "delete", "path": "none.py"}, "file does not exist: none.py"),
        ({"action": "delete", "path": "bytes.py"}, "bytes.py is not text and cannot be edited"),
    ],
)
async def test_a_wrong_replacement_is_refused(
    tools: dict[str, Tool], shop: Path, context: ToolContext, args: dict[str, Any], why: str
):
    (shop.parent / "bytes.py").write_bytes(b"\xff")
    before = everything(shop.parent)
    given = {"symbol": "open", "path": "shop.py", **args}

    assert await refusal(tools["replace_symbol"], given, in_call(context)) == why
    assert everything(shop.parent) == before


async def test_a_file_that_changes_while_a_server_looks_at_it_is_left_alone(
    tools: dict[str, Tool], languages: FakeLanguages, shop: Path, context: ToolContext
):
    class Slow(FakeLanguages):
        async def symbols(self, path: str, cwd: str) -> tuple[SymbolInfo, ...]:
            shop.write_text("# new\n" + shop.read_text())
            return languages.symbols_of["shop.py"]

    tool = next(tool for tool in code_tools(Slow()) if tool.spec.name == "replace_symbol")
    args = {"symbol": "open", "path": "shop.py", "action": "delete"}

    assert await refusal(tool, args, in_call(context)) == (
        "shop.py differs from what the language server has seen; call it again"
    )


# ---------------------------------------------------------------------------- code_action


async def test_fixes_are_listed_and_one_is_made(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.offered = (
        CodeAction("f1", "Remove unused\nimport", "quickfix", is_preferred=True),
        CodeAction("f2", "Organize imports"),
    )
    languages.edits = lambda fix: renamed(project, "price", names=("a.py",))(f"by_{fix}")
    tool, args = tools["code_action"], {"path": "a.py", "line": 1}

    listed = await call(tool, args, in_call(context, mode="plan"))
    made = await call(tool, args | {"end_line": 2, "action": "f2"}, in_call(context))

    assert listed.text == "f1: Remove unused import [quickfix] (preferred)\nf2: Organize imports"
    assert tool.access(args, context) == Access("code_action", "read", (Subject("path", "a.py"),))
    assert made.text.split("\n")[0] == "Did f2 in 1 file"
    assert (project / "a.py").read_text() == "def by_f2():\n    return 1\n"
    assert languages.asked[:2] == [
        ("fixes", str(project / "a.py"), 1, 1, str(project)),
        ("fix", str(project / "a.py"), 1, 2, "f2", str(project)),
    ]


async def test_many_fixes_are_cut_and_none_is_said(
    tools: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    args = {"path": "a.py", "line": 1}
    nothing = await call(tools["code_action"], args, context)
    languages.offered = tuple(CodeAction(f"f{number}", "x") for number in range(60))
    many = await call(tools["code_action"], args, context)

    assert nothing.text == "no fixes for these lines"
    assert many.text.split("\n")[49:] == ["f49: x", "[and 10 more]"]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({"line": 0}, "line starts at 1, and end_line must not be before it"),
        ({"line": 3, "end_line": 2}, "line starts at 1, and end_line must not be before it"),
        ({"line": 1, "action": "f9"}, "no fix f9"),
        ({"line": 1, "path": "../x.py"}, "absolute or parent paths are not allowed"),
    ],
)
async def test_a_wrong_action_is_refused(
    tools: dict[str, Tool], project: Path, context: ToolContext, args: dict[str, Any], why: str
):
    assert await refusal(tools["code_action"], {"path": "a.py", **args}, in_call(context)) == why


async def test_a_session_keeps_its_own_plans(tools: dict[str, Tool], project: Path, context: ToolContext):
    tool, mine = tools["rename_symbol"], in_call(context)
    await foresee(tool, RENAME, mine)

    assert await tool.preview(RENAME, replace(mine, session="other")) == ""
    assert await tool.preview(RENAME, mine) == DIFF
