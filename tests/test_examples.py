"""Every example does what it promises, with a scripted model."""

import asyncio
import io
import json
import runpy
import tokenize
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

import bridle
from tests.stores.sample import SAMPLES, S
from tests.stores.test_contract import (  # noqa: F401  the store of an example keeps the contract of stores
    test_a_deleted_session_is_gone_and_its_name_is_free,
    test_a_new_session_begins_at_zero,
    test_a_read_is_a_slice,
    test_an_empty_append_stores_nothing_but_still_compares,
    test_an_honest_record_is_proven,
    test_an_unknown_session_is_empty,
    test_any_text_comes_back_unchanged,
    test_paging_visits_every_record_once_in_both_directions,
    test_records_are_numbered_dated_and_chained,
    test_the_list_is_newest_first_and_leaves_out_the_archived,
    test_the_list_knows_events_that_change_no_summary,
    test_what_was_appended_is_read_back,
)

EXAMPLES = Path(__file__).parents[1] / "examples"
MAX_LINES = 40


@pytest.fixture
def scripted(home: Path, env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a model that follows these replies the one that is used, in an empty folder."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def follow(*replies: dict[str, Any], repeat: bool = False) -> None:
        script = tmp_path / "script.json"
        script.write_text(json.dumps({"replies": replies, "repeat": repeat}))
        (home / "config.toml").write_text(f'model = "scripted/{script}"\n')

    return follow


@pytest.fixture
async def store(tmp_path: Path):
    """Open the store of the example, with what the contract looks at beside it."""
    kind: Any = runpy.run_path(str(EXAMPLES / "sql_store.py"))["SqlStore"]

    class Shown(kind):
        async def lines(self, session: str):
            for [line] in await self._sql("SELECT line FROM log WHERE id=? ORDER BY seq", (session,)):
                yield line

        async def ids(self) -> list[str]:
            return [name for [name] in await self._sql("SELECT DISTINCT id FROM log ORDER BY id", ())]

        async def flaws(self, session: str | None = None, *, repair: bool = False) -> list[str]:
            return []

    opened = Shown(str(tmp_path / "store.sqlite"))
    opened.now_ms = count(1_763_190_000_000, 1000).__next__
    yield opened
    await opened.aclose()


def example(name: str, capsys: pytest.CaptureFixture[str], *args: str) -> list[str]:
    """Run an example as a program; return the lines that it prints."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", [name, *args])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_hello(scripted: Any, capsys: pytest.CaptureFixture[str]):
    scripted({"text": "You said: {last_user}"})

    assert example("hello.py", capsys, "good", "day") == ["You said: good day"]


def test_custom_tool(scripted: Any, capsys: pytest.CaptureFixture[str]):
    scripted(
        {"calls": [{"name": "stock", "args": {"article": "A-17"}}], "expect": {"system": "small warehouse"}},
        {
            "calls": [{"name": "order", "args": {"article": "A-17", "pieces": 6}}],
            "expect": {"tool_result": "4"},
        },
        {"text": "Now {last_tool_result}.", "expect": {"tool_result": "ordered 6"}},
    )

    assert example("custom_tool.py", capsys) == ["order: + 6 × A-17", "Now ordered 6."]


def test_custom_provider(capsys: pytest.CaptureFixture[str], scripted: Any):
    assert example("custom_provider.py", capsys) == ["Polly wants a cracker ", "completed, 0.0 dollars"]


def test_sql_store(scripted: Any, capsys: pytest.CaptureFixture[str]):
    scripted({"text": "Nothing."}, {"text": "You asked me."})

    assert [example("sql_store.py", capsys) for _ in range(2)] == [["Nothing."], ["You asked me."]]
    assert Path("sessions.sqlite").exists()


@pytest.mark.parametrize("expected", [0, 1, 3, 100])
async def test_the_store_refuses_what_does_not_follow(store: Any, expected: int):
    stored = await store.append(S, 0, SAMPLES[:2])

    with pytest.raises(bridle.SessionConflict):
        await store.append(S, expected, SAMPLES[:1])

    assert await store.read(S) == stored


def test_hooks(scripted: Any, capsys: pytest.CaptureFixture[str]):
    scripted(
        {"calls": [{"name": "bash", "args": {"command": "echo Jane"}}]},
        {"calls": [{"name": "bash", "args": {"command": "git push"}}], "expect": {"tool_result": "somebody"}},
        {"text": "It was somebody.", "expect": {"tool_result": "nothing is pushed from here"}},
    )

    assert example("hooks.py", capsys) == [
        "turn 1 is over",
        "turn 2 is over",
        "turn 3 is over",
        "It was somebody.",
    ]


def test_codeact(scripted: Any, capsys: pytest.CaptureFixture[str]):
    code = 'cost = 3 * float(await price("apple")) + 2 * float(await price("pear"))\nprint(round(cost, 2))'
    scripted({"text": f"```python\n{code}\n```"}, {"text": "2.4 in all.", "expect": {"user": "2.4"}})

    assert example("codeact.py", capsys) == [
        *code.splitlines(),
        "  price {'fruit': 'apple'}",
        "  price {'fruit': 'pear'}",
        "2.4 in all.",
    ]


def test_fork_and_compare(scripted: Any, capsys: pytest.CaptureFixture[str]):
    scripted(
        {"text": "Let us see."},
        {"text": "Slow Blue", "match": "One name"},
        {"text": '{"better": "second", "why": "it is shorter"}', "match": "Which name is better"},
    )

    *names, verdict = example("fork_and_compare.py", capsys)

    assert [name.partition(" (")[0] for name in names] == ["Slow Blue", "Slow Blue"]
    assert len(set(names)) == 2
    assert verdict == "the second one: it is shorter"


async def test_fastapi_app(scripted: Any):
    scripted({"text": "Hello {last_user}!"}, {"text": ["Good\n\n", "bye!"]})
    app = runpy.run_path(str(EXAMPLES / "fastapi_app.py"))["app"]
    transport = httpx.ASGITransport(app)

    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://test") as client,
    ):
        answer = await client.post("/chat/jo", params={"text": "Jo"})
        stream = await client.get("/chat/jo/stream", params={"text": "Jo"})
        [summary] = await app.state.bridle.sessions()

    assert answer.json()["text"] == "Hello Jo!"
    assert stream.text == 'data: "Good\\n\\n"\n\ndata: "bye!"\n\n'
    assert (summary.id, summary.outcome) == ("jo", "completed")


async def test_a_client_of_the_fastapi_app_that_goes_cancels_its_run(scripted: Any):
    scripted({"text": ["Good ", "bye!"], "chunk_delay_ms": 200})
    app = runpy.run_path(str(EXAMPLES / "fastapi_app.py"))["app"]
    gone = asyncio.Event()

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        if message.get("body"):
            gone.set()

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": "GET",
        "path": "/chat/jo/stream",
        "query_string": b"text=hi",
        "headers": [],
    }
    async with app.router.lifespan_context(app):
        await app(scope, receive, send)
        async for item in app.state.bridle.api.watch(bridle.SessionId("jo")):
            if isinstance(item, bridle.Record) and isinstance(item.event, bridle.RunEnded):
                break

    assert (item.event.outcome, item.event.reason) == ("cancelled", "the program left the run")


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_is_short(path: Path):
    """Of lines with code: what is imported, said and left blank does not count."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text()).readline)
    silent = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    coded = {token.start[0] for token in tokens if token.type not in silent}
    lines = [line for number, line in enumerate(path.read_text().splitlines(), 1) if number in coded]
    counted = [line for line in lines if not line.startswith(("import ", "from ", '"""'))]

    assert 0 < len(counted) <= MAX_LINES


def test_every_example_is_tried():
    tried = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}

    assert {path.stem for path in EXAMPLES.glob("*.py")} - tried == set()
