"""Servers that misbehave: the error is clear, and Bridle never hangs."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.language_servers import (
    CodeAction,
    CodeLocation,
    CodeProblem,
    FileEdit,
    ProblemChanges,
    Span,
    SymbolQuery,
)
from bridle.core.server_views import ServerView
from bridle.lsp.instance import Instance
from bridle.lsp.languages import LocalLanguages
from tests.lsp.conftest import PACE, MakeLanguages, player, write
from tests.patience import PATIENCE_S

SHORT = replace(PACE, reading_s=0.3, working_s=0.3, ending_s=0.1, silent_s=0.05)


def rogue(*arguments: str, **more: Any) -> Any:
    return player("rogue", *arguments, **more)


def at(project: Path, name: str = "a.toy") -> str:
    return str(project / name)


def spot(project: Path) -> SymbolQuery:
    return SymbolQuery("one", at(project), 1)


async def running(languages: LocalLanguages, project: Path) -> Instance:
    """Have the file opened, and return the one server that has it."""
    languages.touch(at(project), str(project))
    await asyncio.wait(set(languages._tasks), timeout=20)
    (instance,) = languages._project(languages._load(str(project))).running()
    return instance


@pytest.fixture
def toy(project: Path) -> Path:
    """Return a project with a file."""
    write(project, a_toy="def one\nuse one\n")
    return project


# ---------------------------------------------------------------------- starting


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("never_ready", "rogue did not answer initialize within 0.5 s"),
        ("stillborn", "rogue has ended with status 7: cannot run here"),
        ("flooding", "rogue was ended: it writes other text than messages to its output"),
        ("boasting", "rogue was ended: a message of 99999999999 bytes is too long"),
        ("babbling", "rogue was ended: it sent an invalid message"),
        ("encoded", "rogue counts positions in an encoding that was not offered: 'utf-7'"),
    ],
)
async def test_one_that_does_not_start_is_named_with_its_reason(
    make: MakeLanguages, toy: Path, way: str, message: str
):
    timeout_s = 0.5 if way == "never_ready" else 20.0
    languages = make(rogue(way, start_timeout_s=timeout_s))

    with pytest.raises(ToolError) as caught:
        await languages.look("definition", spot(toy), str(toy))
    views = await languages.views(str(toy))

    assert caught.value.message == message
    assert views == (ServerView("lsp", "rogue", "waiting", message, str(toy)),)


async def test_one_that_fails_five_times_is_left_alone(make: MakeLanguages, toy: Path):
    languages = make(rogue("stillborn"), pace=replace(SHORT, backoff_s=0.0))
    messages: list[str] = []

    for _ in range(7):
        with pytest.raises(ToolError) as caught:
            await languages.problems(at(toy), str(toy))
        messages.append(caught.value.message)

    why = "rogue has ended with status 7: cannot run here"
    left = f"{why}; it failed 5 times in a row and is not restarted for now"
    assert messages == [*[why] * 5, left, left]
    assert await languages.views(str(toy)) == (ServerView("lsp", "rogue", "failed", why, str(toy)),)


async def test_one_that_fails_waits_before_the_next_start(make: MakeLanguages, toy: Path):
    languages = make(rogue("stillborn"), pace=replace(SHORT, backoff_s=3600.0))
    messages: list[str] = []

    for _ in range(3):
        with pytest.raises(ToolError) as caught:
            await languages.problems(at(toy), str(toy))
        messages.append(caught.value.message.partition("; ")[2])

    assert messages[:2] == ["", ""]
    assert messages[2].startswith("it restarts in ")


async def test_a_slow_start_does_not_delay_an_edit(make: MakeLanguages, toy: Path):
    languages = make(rogue("never_ready"), wait_s=0.2)

    async with asyncio.timeout(PATIENCE_S):
        watching = await languages.before_edit((at(toy),), str(toy))
        news = await watching.news()

    assert news == ProblemChanges(late=("rogue",))
    (view,) = await languages.views(str(toy))
    assert view.state == "starting"


# ---------------------------------------------------------------------- asking


async def test_one_that_crashes_in_a_question_is_started_again(make: MakeLanguages, toy: Path):
    languages = make(rogue("crashing"))
    why = "rogue has ended with status 3: fatal error: out of luck"

    for _ in range(2):
        with pytest.raises(ToolError) as caught:
            await languages.look("definition", spot(toy), str(toy))
        assert caught.value.message == why
        assert await languages.views(str(toy)) == (ServerView("lsp", "rogue", "waiting", why, str(toy)),)


async def test_a_crash_between_edit_and_news_is_no_error(make: MakeLanguages, toy: Path):
    languages = make(player("toy"))
    watching = await languages.before_edit((at(toy),), str(toy))
    (instance,) = languages._project(languages._load(str(toy))).running()

    instance.connection.process.kill()
    while instance.is_alive:
        await instance.bell.wait(10)
    write(toy, a_toy="use two\n")

    async with asyncio.timeout(8):  # the wait for a server that lives would be longer
        assert await watching.news() == ProblemChanges(late=("toy",))


async def test_one_that_prints_between_messages_is_understood(make: MakeLanguages, toy: Path):
    languages = make(rogue("chatty"))

    for _ in range(2):
        assert await languages.look("definition", spot(toy), str(toy)) == ()


async def test_a_silent_one_is_said_to_be(make: MakeLanguages, toy: Path):
    languages = make(rogue("silent"), pace=SHORT)

    with pytest.raises(ToolError) as asked:
        await languages.look("definition", spot(toy), str(toy))
    with pytest.raises(ToolError) as problems:
        await languages.problems(at(toy), str(toy))

    assert asked.value.message == "rogue did not answer textDocument/definition within 0.3 s"
    assert problems.value.message == f"rogue reported nothing about {at(toy)} within 0.3 s"


async def test_a_silent_one_costs_an_edit_little_after_the_second_time(make: MakeLanguages, toy: Path):
    languages = make(rogue("silent"), wait_s=0.4, pace=SHORT)
    await running(languages, toy)
    loop = asyncio.get_running_loop()
    waits: list[float] = []

    for _ in range(3):
        began = loop.time()
        watching = await languages.before_edit((at(toy),), str(toy))
        assert await watching.news() == ProblemChanges(late=("rogue",))
        waits.append(loop.time() - began)

    assert waits[0] >= 0.4
    assert waits[1] >= 0.4
    assert waits[2] < waits[1]


async def test_a_cancelled_question_is_withdrawn(make: MakeLanguages, toy: Path):
    languages = make(rogue("hesitant", str(toy)))
    instance = await running(languages, toy)
    question = asyncio.create_task(languages.look("definition", spot(toy), str(toy)))
    assert await instance.bell.wait(10)
    (asked,) = await languages.problems(str(toy), str(toy))

    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    assert await instance.bell.wait(10)
    (cancelled,) = await languages.problems(str(toy), str(toy))

    assert [asked.message, cancelled.message] == ["textDocument/definition", "$/cancelRequest"]
    assert not instance.connection.is_busy
    assert instance.is_alive


@pytest.mark.parametrize("kind", ["definition", "references", "incoming_calls"])
async def test_one_that_indexes_for_minutes_says_how_far_it_is(make: MakeLanguages, toy: Path, kind: Any):
    languages = make(rogue("indexing"), pace=SHORT, wait_s=0.3)
    instance = await running(languages, toy)
    while not instance.progress.endswith("42 %"):
        await instance.bell.wait(10)

    watching = await languages.before_edit((at(toy),), str(toy))
    (view,) = await languages.views(str(toy))
    with pytest.raises(ToolError) as looked:
        await languages.look(kind, spot(toy), str(toy))
    with pytest.raises(ToolError) as renamed:
        await languages.rename(spot(toy), "two", str(toy))

    message = "rogue is still indexing (42 %): ask again later"
    assert [looked.value.message, renamed.value.message] == [message, message]
    assert (view.state, view.detail) == ("ready", "indexing 42 %")
    assert await watching.news() == ProblemChanges(late=("rogue",))


async def test_places_outside_are_named_but_not_read(make: MakeLanguages, toy: Path):
    """A server may name any file, also one that it cannot read itself."""
    languages = make(rogue("pointing"))

    found = await languages.look("definition", spot(toy), str(toy))

    inside = [one for one in found if one.span.path == at(toy)]
    assert inside == [
        CodeLocation(Span(at(toy), 1, 5, 1, 8), "def one"),
        CodeLocation(Span(at(toy), 1, 6, 1, 6), "def one"),
        CodeLocation(Span(at(toy), 2, 3, 3, 1), "use one"),
    ]
    assert [one for one in found if one not in inside] == [CodeLocation(Span("/etc/passwd", 1, 1, 1, 5))]


# ---------------------------------------------------------------------- problems


async def test_what_is_said_of_other_versions_does_not_count(make: MakeLanguages, toy: Path):
    languages = make(rogue("wrong_versions"), pace=SHORT, wait_s=0.3)

    with pytest.raises(ToolError, match="reported nothing about"):
        await languages.problems(at(toy), str(toy))
    watching = await languages.before_edit((at(toy),), str(toy))
    write(toy, a_toy="use two\n")

    assert await watching.news() == ProblemChanges(late=("rogue",))


async def test_files_that_were_never_opened_count_if_they_are_of_the_project(make: MakeLanguages, toy: Path):
    languages = make(rogue("strangers", str(toy), "/etc/passwd"))

    here = await languages.problems(at(toy), str(toy))
    everything = await languages.problems(str(toy), str(toy))
    (instance,) = languages._project(languages._load(str(toy))).running()

    def problem(name: str, message: str) -> CodeProblem:
        return CodeProblem(Span(at(toy, name), 1, 1, 1, 2), "error", message, "rogue")

    assert here == (problem("a.toy", "here"),)
    assert everything == (problem("a.toy", "here"), problem("never.toy", "never opened"))
    assert sorted(instance.diagnostics.all()) == [at(toy), at(toy, "never.toy")]


# ---------------------------------------------------------------------- edits


def change(uri: str, text: str = "x", start: int = 0, end: int = 0) -> dict[str, Any]:
    place = {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}}
    return {"changes": {uri: [{"range": place, "newText": text}]}}


async def rename(make: MakeLanguages, toy: Path, edit: Any) -> tuple[FileEdit, ...]:
    languages = make(rogue("escaping"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bridle.lsp.queries._MAX_NAME", 100_000)  # the play comes as the new name
        return await languages.rename(spot(toy), json.dumps(edit).encode().hex(), str(toy))


async def refusal(make: MakeLanguages, toy: Path, edit: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await rename(make, toy, edit)
    return caught.value.message


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "file://{0}",
        "file://{0}-sibling/a.toy",
        "file://{0}/link/passwd",
        "file://{0}/out.toy",
    ],
)
async def test_an_edit_outside_of_the_project_is_refused(make: MakeLanguages, toy: Path, uri: str):
    (toy / "link").symlink_to("/etc")
    (toy / "out.toy").symlink_to(toy.parent / "out.toy")
    uri = uri.format(toy)

    message = await refusal(make, toy, change(uri))

    path = uri.removeprefix("file://")
    assert message == f"rogue wants to change {path}, which is outside {toy}"


@pytest.mark.parametrize(
    "uri",
    [
        "file://host/a.toy",
        "file://{0}/../a.toy",
        "file://{0}/%2e%2e/a.toy",
        "file://{0}/a.toy?x",
        "file://{0}/a%00.toy",
        "http://localhost/a.toy",
        "untitled:one",
        "relative/a.toy",
        "",
    ],
)
async def test_an_edit_of_no_file_is_refused(make: MakeLanguages, toy: Path, uri: str):
    uri = uri.format(toy)

    assert await refusal(make, toy, change(uri)) == f"rogue wants to change {uri!a}, which is not a file here"


async def test_edits_that_make_no_sense_are_refused(make: MakeLanguages, toy: Path):
    uri = f"file://{toy}/a.toy"
    overlapping = {
        "changes": {uri: [*change(uri, "x", 0, 3)["changes"][uri], *change(uri, "y", 2, 4)["changes"][uri]]}
    }
    versioned = {
        "documentChanges": [
            {"textDocument": {"uri": uri, "version": 77}, "edits": change(uri)["changes"][uri]}
        ]
    }
    refused = {
        "the server sent edits that overlap": overlapping,
        "the server sent an edit that ends before it begins": change(uri, "x", 4, 2),
        f"the server's edit is for another version of {toy}/a.toy: try again": versioned,
        f"the server sent an edit for a missing file: {toy}/new.toy": change(f"file://{toy}/new.toy"),
        "the server sent a change of an unknown kind, 'explode'": {"documentChanges": [{"kind": "explode"}]},
        "rogue sent an invalid answer to textDocument/rename": {"changes": 5},
    }

    for message, edit in refused.items():
        assert await refusal(make, toy, edit) == message


async def test_files_are_made_moved_and_removed_in_order(make: MakeLanguages, toy: Path):
    write(toy, b_toy="b", c_toy="c")
    uri = {name: f"file://{toy}/{name}.toy" for name in "abcnm"}
    edits = change(uri["n"], "new")["changes"][uri["n"]]
    edit = {
        "documentChanges": [
            {"kind": "create", "uri": uri["n"]},
            {"textDocument": {"uri": uri["n"], "version": None}, "edits": edits},
            {"kind": "rename", "oldUri": uri["b"], "newUri": uri["m"]},
            {"kind": "delete", "uri": uri["c"]},
        ]
    }

    assert await rename(make, toy, edit) == (
        FileEdit(at(toy, "b.toy"), "b", None),
        FileEdit(at(toy, "c.toy"), "c", None),
        FileEdit(at(toy, "m.toy"), None, "b"),
        FileEdit(at(toy, "n.toy"), None, "new"),
    )


# ---------------------------------------------------------------------- what they ask


async def test_questions_of_a_server_are_answered(make: MakeLanguages, toy: Path):
    languages = make(rogue("asking", settings={"toy": {"depth": 3}}))

    found = await languages.find(f"file://{toy}/a.toy", str(toy))

    settings, folder = {"toy": {"depth": 3}}, {"uri": f"file://{toy}", "name": "project"}
    refused = {"applied": False, "failureReason": "nothing asked for it"}
    answers = [[3, None, settings], [folder], None, None, refused, {"success": False}, None, -32602, -32601]
    assert sorted(symbol.name for symbol in found) == sorted(json.dumps(one)[:200] for one in set_of(answers))


def set_of(answers: list[Any]) -> list[Any]:
    """Return each answer once, as equal symbols are one."""
    return [json.loads(text) for text in {json.dumps(one) for one in answers}]


async def test_fixes_of_every_shape_are_worked_out(make: MakeLanguages, toy: Path):
    languages = make(rogue("fixing"))
    write(toy, a_toy="one\ntwo\nthree\n")

    offered = await languages.fixes(at(toy), 1, 2, str(toy))
    again = await languages.fixes(at(toy), 1, 2, str(toy))
    ids = {fix.title: fix.id for fix in offered}

    async def text(title: str) -> str:
        (edit,) = await languages.fix(at(toy), 1, 2, ids[title], str(toy))
        assert (edit.path, edit.before) == (at(toy), "one\ntwo\nthree\n")
        return str(edit.after).partition("\n")[0]

    assert again == offered
    assert [replace(fix, id="") for fix in offered] == [
        CodeAction("", "Edit", "quickfix", is_preferred=True),
        CodeAction("", "Resolve", "refactor"),
        CodeAction("", "Run"),
        CodeAction("", "Empty"),
        CodeAction("", "About first"),
    ]
    assert [await text(title) for title in ("Edit", "Resolve", "Run")] == [
        "edited one",
        "resolved one",
        "ran one",
    ]
    for title, message in [
        ("Empty", "rogue changes nothing for 'Empty'"),
        ("About first", "rogue refused workspace/executeCommand: I do not want to"),
    ]:
        with pytest.raises(ToolError) as caught:
            await languages.fix(at(toy), 1, 2, ids[title], str(toy))
        assert caught.value.message == message
    with pytest.raises(ToolError, match=r"no fix 'zzz' for .*a\.toy:1; available: \w+ \(Edit\), "):
        await languages.fix(at(toy), 1, 2, "zzz", str(toy))


# ---------------------------------------------------------------------- ending


async def test_one_that_does_not_want_to_end_is_ended(make: MakeLanguages, toy: Path):
    languages = make(rogue("stubborn"), pace=SHORT)
    await running(languages, toy)
    (view,) = await languages.views(str(toy))

    async with asyncio.timeout(PATIENCE_S):
        await languages.aclose()

    assert view.pid > 0
    assert not os.path.exists(f"/proc/{view.pid}")


async def test_one_that_is_idle_is_ended_and_started_again(make: MakeLanguages, toy: Path):
    languages = make(player("toy"), idle_s=0.05)

    first = await languages.symbols(at(toy), str(toy))
    opened = languages._project(languages._load(str(toy)))
    (instance,) = opened.running()
    async with asyncio.timeout(PATIENCE_S):
        await instance.connection.process.wait()
    (view,) = await languages.views(str(toy))
    second = await languages.symbols(at(toy), str(toy))

    assert view.state == "idle"
    assert second == first


async def test_one_that_is_thinking_is_not_idle(make: MakeLanguages, toy: Path):
    languages = make(rogue("silent"), idle_s=0.05, pace=SHORT)

    with pytest.raises(ToolError, match="did not answer textDocument/definition"):
        await languages.look("definition", spot(toy), str(toy))


async def test_after_the_end_nothing_is_started(make: MakeLanguages, toy: Path):
    languages = make(player("toy"))
    await languages.aclose()

    languages.touch(at(toy), str(toy))
    with pytest.raises(ToolError, match="have been stopped"):
        await languages.problems(at(toy), str(toy))

    assert await (await languages.before_edit((at(toy),), str(toy))).news() == ProblemChanges()
    await languages.aclose()
