"""The tools with a real language server: an edit that breaks a type, a rename over three files."""

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall
from bridle.core.ports import Tool, ToolContext
from bridle.core.protocol import ApprovalRequested, Rewind, RunEnded, ToolFinished
from bridle.core.queries import Records
from bridle.core.turns import list_turns
from bridle.lsp.catalogue import KNOWN
from bridle.lsp.languages import LocalLanguages
from bridle.lsp.settings import FolderLanguages, Timeouts
from bridle.revisions.file_revisions import FileRevisions
from bridle.sandbox import LocalSandbox
from bridle.stores.blobs import MemoryBlobs
from bridle.tools.code import code_tools, with_new_problems
from bridle.tools.file_tools import file_tools
from tests.patience import PATIENCE_S
from tests.revisions.tree import tree_of
from tests.sessions.stage import Play, Stage, says
from tests.tools.code.fake import call, in_call
from tests.tools.knowing import knowing

SHOP = """\
class Shop:
    @property
    def open(self) -> bool:
        return 1


def price(count: int) -> int:
    return count
"""
Use = Callable[..., Awaitable[str]]


@pytest.fixture
def shop(cwd: Path) -> Path:
    (cwd / "shop.py").write_text(SHOP)
    (cwd / "till.py").write_text("from shop import price\n\nprint(price(2))\n")
    (cwd / "cart.py").write_text("import shop\n\n\ndef total() -> int:\n    return shop.price(3)\n")
    return cwd


@pytest.fixture
async def live(shop: Path, tmp_path: Path) -> AsyncIterator[list[Tool]]:
    """Yield the tools of a session in the shop, with a server that starts when it is needed."""
    folder = FolderLanguages(
        root=str(shop),
        servers=tuple(server for server in KNOWN if server.name == "basedpyright"),
        environ={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)},
        confined=False,
        trusted=True,
        wait_s=PATIENCE_S,
    )
    sandbox = LocalSandbox(home=str(tmp_path))
    languages = LocalLanguages(
        lambda cwd: folder, sandbox, pace=Timeouts(reading_s=PATIENCE_S, working_s=PATIENCE_S)
    )
    yield [*code_tools(languages), *(with_new_problems(tool, languages) for tool in file_tools())]
    await languages.aclose()
    await sandbox.end_session(SessionId("lsp"))


@pytest.fixture
def use(live: list[Tool], context: ToolContext) -> Use:
    """Return a function that calls a tool and returns its text."""
    tools = {tool.spec.name: tool for tool in live}
    calls = iter(range(100))

    async def use(tool: str, **args: Any) -> str:
        known = in_call(knowing(context), f"c{next(calls)}", mode="yolo")
        return (await call(tools[tool], args, known)).text

    return use


async def test_an_edit_that_breaks_a_type_tells_exactly_that(use: Use):
    edit = await use("edit_file", path="shop.py", old_str="return count", new_str="return str(count)")
    line = await use("write_file", path="new.py", content="x: int = 1\n")
    back = await use("edit_file", path="shop.py", old_str="return str(count)", new_str="return count")
    known = await use("diagnostics", path="shop.py")

    assert edit == (
        "Replaced 1 occurrence(s) in shop.py\n\nNew problems (1):\n"
        'error shop.py:8:12 Type "str" is not assignable to return type "int"'
        ' "str" is not assignable to "int" [basedpyright reportReturnType]'
    )
    assert line == "Successfully wrote 11 bytes to new.py"
    assert back == "Replaced 1 occurrence(s) in shop.py"
    assert known == (
        'error shop.py:4:16 Type "Literal[1]" is not assignable to return type "bool"'
        ' "Literal[1]" is not assignable to "bool" [basedpyright reportReturnType]'
    )


async def test_symbols_are_replaced_and_what_that_broke_elsewhere_is_told(use: Use, shop: Path):
    await use("diagnostics", path="till.py")
    new = "def open(self) -> bool:\n    return True\n"

    fixed = await use("replace_symbol", symbol="Shop.open", path="shop.py", action="replace", text=new)
    replaced = (shop / "shop.py").read_text()
    deleted = await use("replace_symbol", symbol="price", path="shop.py", action="delete")

    assert replaced == SHOP.replace("return 1", "return True")
    assert "New problems" not in fixed
    assert deleted.split("\n\n")[-1] == (
        'New problems (1):\nerror till.py:1:18 "price" is unknown import symbol'
        " [basedpyright reportAttributeAccessIssue]"
    )


async def test_a_rename_over_three_files_takes_one_yes_and_one_step_back(
    live: list[Tool], shop: Path, tmp_path: Path
):
    before, blobs = tree_of(shop), MemoryBlobs()
    rename = ToolCall(CallId("c1"), "rename_symbol", {"symbol": "price", "new_name": "cost"})
    edit = ToolCall(
        CallId("c2"), "edit_file", {"path": "till.py", "old_str": "cost(2)", "new_str": "cost('2')"}
    )
    play = Play(says("", rename), says("", edit), says("done"))
    engine: dict[str, Any] = {"blobs": blobs, "revisions": FileRevisions(tmp_path / "revisions", blobs)}

    async with Stage(play, tools=live, cwd=str(shop), **engine) as stage:
        run = await stage.prompt("go", allow=("edit_file",))
        asked = await stage.until(ApprovalRequested)
        await stage.decide("c1", "once")
        ended: RunEnded = await stage.service.wait(stage.session, run)
        after = {path.name: path.read_text() for path in shop.glob("*.py")}
        log = await stage.log()
        first = list_turns(await stage.service.ask(Records(stage.session)))[0]
        await stage.service.submit(stage.session, Rewind(first.seq))

    results = [event.result.output for event in log if isinstance(event, ToolFinished)]
    assert ended.outcome == "completed"
    assert sum(isinstance(event, ApprovalRequested) for event in log) == 1
    assert [line for line in asked.preview.split("\n") if line.startswith("+++")] == [
        "+++ cart.py",
        "+++ shop.py",
        "+++ till.py",
    ]
    assert results[0].split("\n")[0] == "Renamed price to cost in 3 files"
    assert "error till.py:3:12 " in results[1]  # it may be edited without being read
    assert after == {
        "shop.py": SHOP.replace("price", "cost"),
        "till.py": "from shop import cost\n\nprint(cost('2'))\n",
        "cart.py": "import shop\n\n\ndef total() -> int:\n    return shop.cost(3)\n",
    }
    assert tree_of(shop) == before


async def test_questions_are_answered(use: Use):
    assert await use("symbols", path="shop.py") == "1-4: class Shop\n  2-4: method open\n7-8: function price"
    assert await use("definition", symbol="price", path="till.py", line=3) == (
        "shop.py:7:5: def price(count: int) -> int:"
    )
    assert (await use("references", symbol="price")).split("\n") == [
        "cart.py:5:17: return shop.price(3)",
        "shop.py:7:5: def price(count: int) -> int:",
        "till.py:1:18: from shop import price",
        "till.py:3:7: print(price(2))",
    ]
    assert "cart.py:5:17 total: return shop.price(3)" in await use(
        "call_hierarchy", symbol="price", direction="incoming"
    )
