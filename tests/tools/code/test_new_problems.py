"""Problems after edits: only new ones, in short; and the edit counts whatever servers do."""

import asyncio
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.core.language_servers import ProblemChanges
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.tools.code import with_new_problems
from bridle.tools.code.new_problems import edit_and_report
from bridle.tools.file_tools import file_tools
from bridle.tools.grep import Grep
from tests.tools.code.fake import FakeLanguages, in_call, problem
from tests.tools.knowing import knowing

EDIT = {"path": "a.py", "old_str": "1", "new_str": "2"}
WRITE = {"path": "new.py", "content": "x\n"}
MULTI = {"path": "a.py", "edits": [{"old_str": "1", "new_str": "2"}]}


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    return knowing(context)


@pytest.fixture
def plain() -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in file_tools()}


@pytest.fixture
def told(plain: dict[str, Tool], languages: FakeLanguages) -> dict[str, Tool]:
    return {name: with_new_problems(tool, languages) for name, tool in plain.items()}


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("edit_file", EDIT, "Replaced 1 occurrence(s) in a.py"),
        ("write_file", WRITE, "Successfully wrote 2 bytes to new.py"),
        ("multi_edit", MULTI, "Made 1 edits in a.py\n1: ok, 1 occurrence(s)"),
    ],
)
async def test_an_edit_tells_what_is_new(
    told: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
    tool: str,
    args: dict[str, object],
    result: str,
):
    languages.news = ProblemChanges(
        (
            problem(project / "b.py", "two", "warning"),
            problem(project / "a.py", "one"),
            problem(project / "a.py", "unused", "hint"),
        ),
        gone=3,
        remaining=4,
        late=("ruff", "pyright"),
    )
    path = str(project / str(args["path"]))

    output = await told[tool].run(args, context)

    assert output.text == (
        f"{result}\n\nNew problems (2):\nerror a.py:1:1 one [fake E1]\nwarning b.py:1:1 two [fake E1]\n"
        "[not checked in time by ruff, pyright; use diagnostics]"
    )
    assert languages.asked == [("before_edit", (path,), str(project)), ("news",)]


async def test_nothing_new_adds_nothing(
    plain: dict[str, Tool],
    told: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
):
    languages.news = ProblemChanges(gone=2, remaining=5)

    with_it = await told["edit_file"].run(EDIT, context)
    (project / "a.py").write_text("def price():\n    return 1\n")
    without = await plain["edit_file"].run(EDIT, context)

    assert with_it == without


async def test_a_late_server_is_named(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges(late=("pyright",))

    output = await told["write_file"].run(WRITE, context)

    assert output.text == (
        "Successfully wrote 2 bytes to new.py\n\n[not checked in time by pyright; use diagnostics]"
    )


async def test_many_are_cut(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges(
        tuple(problem(project / "a.py", "bad", line=line) for line in range(1, 13))
    )

    lines = (await told["edit_file"].run(EDIT, context)).text.split("\n")

    assert (lines[2], lines[12:]) == ("New problems (12):", ["error a.py:10:1 bad [fake E1]", "[and 2 more]"])


async def test_denied_files_are_left_out(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, outside: Path, context: ToolContext
):
    languages.news = ProblemChanges(
        (problem(project / "secrets/key.py", "tOp-sEcRet"), problem(outside / "secret.txt", "tOp-sEcRet"))
    )

    output = await told["edit_file"].run(EDIT, in_call(context, "c", "deny read_file(secrets/**)"))

    assert output.text == "Replaced 1 occurrence(s) in a.py"


async def test_a_failed_edit_has_no_news(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges((problem(project / "a.py", "bad"),))

    with pytest.raises(ToolError, match=r"^old_str not found in file"):
        await told["edit_file"].run(EDIT | {"old_str": "99"}, context)
    with pytest.raises(ToolError, match=r"^absolute or parent paths are not allowed$"):
        await told["edit_file"].run(EDIT | {"path": "../a.py"}, context)

    assert languages.asked == [("before_edit", (str(project / "a.py"),), str(project))]


async def test_a_result_that_is_an_error_has_no_news(
    languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges((problem(project / "a.py", "bad"),))

    async def fail() -> ToolOutput:
        return ToolOutput("it did not work", is_error=True)

    output = await edit_and_report(languages, "edit_file", (str(project / "a.py"),), context, fail)

    assert output == ToolOutput("it did not work", is_error=True)


async def test_a_file_that_may_be_edited_after_asking_has_news(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges((problem(project / "a.py", "bad"), problem(project / "b.py", "hidden")))

    output = await told["edit_file"].run(EDIT, in_call(context, "c", "ask read_file(*.py)"))

    assert output.text.split("\n\n")[1] == "New problems (1):\nerror a.py:1:1 bad [fake E1]"


async def test_a_file_that_nobody_serves_is_edited_as_ever(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext
):
    languages.news = ProblemChanges((problem(project / "a.py", "bad"),))

    output = await told["write_file"].run({"path": "notes.txt", "content": "x"}, context)

    assert output.text == "Successfully wrote 1 bytes to notes.txt"
    assert languages.asked == []


@pytest.mark.parametrize("error", [ToolError("broken"), RuntimeError("very broken"), TimeoutError()])
async def test_broken_servers_do_not_make_an_edit_fail(
    told: dict[str, Tool], languages: FakeLanguages, project: Path, context: ToolContext, error: Exception
):
    languages.news_error = error
    first = await told["write_file"].run(WRITE, context)
    languages.before_error = error
    second = await told["edit_file"].run(EDIT, context)

    assert (first.text, second.text) == (
        "Successfully wrote 2 bytes to new.py",
        "Replaced 1 occurrence(s) in a.py",
    )
    assert (project / "a.py").read_text() == "def price():\n    return 2\n"


async def test_waiting_for_news_can_be_cancelled(
    languages: FakeLanguages, plain: dict[str, Tool], project: Path, context: ToolContext
):
    waiting = asyncio.Event()

    class Endless(FakeLanguages):
        async def before_edit(self, paths: tuple[str, ...], cwd: str):  # type: ignore[no-untyped-def]
            waiting.set()
            await asyncio.Event().wait()

    running = asyncio.ensure_future(with_new_problems(plain["write_file"], Endless()).run(WRITE, context))
    await waiting.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    assert not (project / "new.py").exists()


async def test_rules_and_previews_are_those_of_the_tool_itself(
    plain: dict[str, Tool], told: dict[str, Tool], project: Path, context: ToolContext
):
    for name, args in (("edit_file", EDIT), ("write_file", WRITE), ("multi_edit", MULTI)):
        assert (
            told[name].spec,
            told[name].parallel,
            told[name].access(args, context),
            await told[name].preview(args, context),
        ) == (
            plain[name].spec,
            plain[name].parallel,
            plain[name].access(args, context),
            await plain[name].preview(args, context),
        )


async def test_reading_warms_a_server_up(
    plain: dict[str, Tool],
    told: dict[str, Tool],
    languages: FakeLanguages,
    project: Path,
    context: ToolContext,
):
    (project / "link.py").symlink_to("a.py")
    (project / "notes.txt").write_text("x")

    output = await told["read_file"].run({"path": "link.py"}, context)
    await told["read_file"].run({"path": "notes.txt"}, context)
    with pytest.raises(ToolError):
        await told["read_file"].run({"path": "none.py"}, context)

    assert output == await plain["read_file"].run({"path": "link.py"}, context)
    assert languages.asked == [("touch", str(project / "a.py"), str(project))]


async def test_a_server_that_cannot_be_warmed_up_does_not_matter(
    plain: dict[str, Tool], project: Path, context: ToolContext
):
    class Cold(FakeLanguages):
        def touch(self, path: str, cwd: str) -> None:
            raise RuntimeError("too cold")

    output = await with_new_problems(plain["read_file"], Cold()).run({"path": "a.py"}, context)

    assert output.text.startswith("1: def price():")


def test_other_tools_stay_as_they_are(
    plain: dict[str, Tool], told: dict[str, Tool], languages: FakeLanguages
):
    grep = Grep()

    assert with_new_problems(grep, languages) is grep
    assert told["list_files"] is plain["list_files"]
