"""Bridle opens a home or none, and uses the implementations of the embedding program."""

import os
import signal
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

import bridle
from bridle.core.protocol import RunStarted
from bridle.core.queries import PreviewContext, Records
from bridle.providers import Call, ScriptedProvider
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock, Play, says
from tests.surfaces.daemon.process import DaemonProcess
from tests.surfaces.python.opened import events, opened


async def test_sessions_of_a_home_stay(home: Path, env: dict[str, str], tmp_path: Path):
    for number, text in enumerate(["one", "two"]):
        async with opened(
            Play(says("one"), says("two")), tmp_path, home=home, environ=env, ephemeral=False
        ) as b:
            session = await b.session("diary")
            assert (await session.run("go")).text == text
            assert len(await b.sessions()) == 1
            assert len(events(await session.records(), RunStarted)) == number + 1


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a separate folder for temporary files."""
    path = tmp_path / "scratch"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


async def test_ephemeral_leaves_nothing_and_knows_no_settings(
    home: Path, env: dict[str, str], tmp_path: Path, scratch: Path
):
    (home / "config.toml").write_text('agent = "nobody"\n')

    async with opened(Play(says("hello")), tmp_path, environ=env) as b:
        assert (await (await b.session()).run("go")).text == "hello"
        assert len(list(scratch.iterdir())) == 1

    assert sorted(path.name for path in home.iterdir()) == ["config.toml"]
    assert list(scratch.iterdir()) == []


async def test_settings_count_in_whichever_folder(tmp_path: Path):
    (tmp_path / "other").mkdir()
    settings = {"limits.max_turns": 1, "rules.deny": ["look"]}

    def look() -> str:
        """Look."""
        return "seen"

    provider = ScriptedProvider.of(Call("look"), "{last_tool_result}", repeat=True)
    async with opened(provider, tmp_path, tools=[look], settings=settings) as b:
        for cwd in (tmp_path, tmp_path / "other"):
            session = await b.session(cwd=cwd)
            result = await session.run("go", check=False)
            assert (session.cwd, result.outcome) == (str(cwd), "budget_exhausted")
            assert [call.reason for call in result.denied] == ["denied by rule deny look"]


async def test_an_agent_that_names_its_tools_has_those_of_the_program_too(
    home: Path, env: dict[str, str], tmp_path: Path
):
    (home / "agents/narrow").mkdir(parents=True)
    (home / "agents/narrow/config.toml").write_text('tools = ["grep"]\n')
    play = Play(says("hello"))

    def look() -> str:
        """Look."""
        return "seen"

    async with opened(
        play, tmp_path, home=home, environ=env, ephemeral=False, tools=[look], builtins=True, agent="narrow"
    ) as b:
        await (await b.session()).run("go")

    assert [spec.name for spec in play.requests[0].tools] == ["grep", "look"]


async def test_the_program_keeps_its_signals_and_its_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    before = [signal.getsignal(number) for number in signal.valid_signals()]
    async with opened(Play(says("hello")), tmp_path) as b:
        await (await b.session()).run("go")
        during = [signal.getsignal(number) for number in signal.valid_signals()]

    assert during == before
    assert capfd.readouterr() == ("", "")


class Telling(Play):
    """A provider that knows its model."""

    def model(self, name: str) -> bridle.Model:
        return bridle.Model("x", name, window_tokens=4_000, price=bridle.Price(input=1e6, output=2e6))


async def test_a_provider_may_know_its_models_and_settings_know_better(tmp_path: Path):
    async with opened(Telling(says("hello")), tmp_path) as b:
        session = await b.session()
        assert (await session.run("go")).cost == 20.0
        assert (await b.api.ask(PreviewContext(session.id))).usage.window == 4_000
        assert (await b.api.ask(PreviewContext(session.id))).model == "play/a"
    settings = {'models."play/a".window_tokens': 9_000}
    async with opened(Telling(says("hello")), tmp_path, settings=settings) as b:
        session = await b.session()
        await session.run("go")
        assert (await b.api.ask(PreviewContext(session.id))).usage.window == 9_000


class Closing:
    """Counts how often it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def stream(
        self, request: bridle.ModelRequest
    ) -> AsyncGenerator[bridle.Delta | bridle.ModelReply, None]:
        yield says("hi")

    async def aclose(self) -> None:
        self.closed += 1


async def test_what_was_brought_is_closed(tmp_path: Path):
    provider = Closing()
    async with opened(provider, tmp_path):
        assert provider.closed == 0

    assert provider.closed == 1


async def test_a_store_of_ones_own(tmp_path: Path):
    store = EphemeralStore(FixedClock())
    for text in ("one", "two"):
        async with opened(Play(says("one"), says("two")), tmp_path, store=store) as b:
            assert (await (await b.session("s")).run("go")).text == text

    assert [summary.id for summary in await store.list()] == ["s"]


async def test_two_engines_in_one_process(tmp_path: Path):
    async with opened(Play(says("one")), tmp_path) as a, opened(Play(says("two")), tmp_path) as b:
        first, second = await a.session("s"), await b.session("s")

        assert ((await first.run("go")).text, (await second.run("go")).text) == ("one", "two")


async def test_the_newest_session_of_a_folder_or_a_new_one(tmp_path: Path):
    (tmp_path / "other").mkdir()
    async with opened(Play(says("one")), tmp_path) as b:
        first = await b.session(newest=True)
        await b.session(cwd=tmp_path / "other")

        assert (await b.session(newest=True)).id == first.id
        with pytest.raises(bridle.UsageError, match="use either newest or an id"):
            await b.session("x", newest=True)
        with pytest.raises(bridle.UsageError, match=f"works in {tmp_path}, not in {tmp_path}/other"):
            await b.session(first.id, cwd=tmp_path / "other")
        with pytest.raises(bridle.UsageError, match="has the agent default, not coder"):
            await b.session(first.id, agent="coder")


async def test_what_cannot_be_opened_is_said(tmp_path: Path, home: Path, env: dict[str, str]):
    with pytest.raises(bridle.UsageError, match="is not a folder"):
        bridle.open(cwd=tmp_path / "none")
    with pytest.raises(
        bridle.UsageError, match="hooks: not available with the daemon, which has its own engine"
    ):
        bridle.open(daemon=True, hooks=[bridle.hook("run_started")(lambda seen: None)])
    with pytest.raises(bridle.UsageError, match="no daemon is running for"):
        async with bridle.open(daemon=True, environ=env):
            pass
    with pytest.raises(bridle.ConfigError, match=r"rules\.mode"):
        async with opened(Play(), tmp_path, settings={"rules.mode": "never"}):
            pass
    async with opened(Play(), tmp_path) as b:
        with pytest.raises(bridle.ConfigError, match='no agent named "ghost"'):
            await b.session(agent="ghost")
        with pytest.raises(bridle.UsageError, match="cannot name a session"):
            await b.session("../up")
        with pytest.raises(bridle.UsageError, match="open already"):
            await b.__aenter__()


async def test_a_failed_start_leaves_no_folder(tmp_path: Path, scratch: Path):
    with pytest.raises(bridle.ConfigError):
        async with opened(Play(), tmp_path, settings={"rules.mode": "never"}):
            pass

    assert list(scratch.iterdir()) == []


class Deep:
    """A tool whose access depends on the call."""

    spec = bridle.ToolSpec("deep", "", {"type": "object"})
    parallel = True
    access = preview = run = len


SCRIPT = """{"replies": [
  {"calls": [{"name": "pay", "args": {"amount": 3}}, {"name": "look"}]},
  {"text": "{tool_results}"}
]}"""


async def test_what_there_is_in_a_folder(home: Path, env: dict[str, str], tmp_path: Path):
    other = tmp_path / "other"
    (other / ".bridle").mkdir(parents=True)
    (home / "agents/narrow").mkdir(parents=True)
    (home / "agents/narrow/config.toml").write_text('tools = ["grep"]\n')
    (home / "skills").mkdir()
    (home / "skills/tidy.md").write_text("---\ndescription: Tidy up\n---\nTidy up.\n")
    (home / "config.toml").write_text(
        '[rules]\ndeny = ["bash(rm:*)"]\n[mcp.servers.git]\ncommand = "git-server"\n'
    )
    settings = {"agent": "narrow", "mcp.servers.git.enabled": False}

    async with opened(
        Play(says("one")),
        tmp_path,
        home=home,
        environ={**env, "OPENAI_API_KEY": "k"},
        ephemeral=False,
        settings=settings,
        builtins=True,
    ) as b:
        await (await b.session()).run("go")
        agents, skills, models = await b.agents(), await b.skills(other), await b.models()
        rules, servers, used = await b.rules(str(other)), await b.servers(other), await b.stats(since="1d")
        every = await b.models(every=True)
        with pytest.raises(bridle.UsageError, match="is not a folder"):
            await b.skills(tmp_path / "none")
        with pytest.raises(bridle.ConfigError):
            await b.stats(since="soon")

    assert ("narrow", ("grep",)) in [(row.agent, row.tools) for row in agents]
    assert "tidy" in [skill.name for skill in skills]
    assert {model.has_key for model in models} == {True}
    assert len(every) > len(models) > 0
    assert rules.agent == "narrow"
    assert [(rule.action, rule.rule) for rule in rules.rules] == [("deny", "bash(rm:*)")]
    assert [(one.name, one.state) for one in servers if one.kind == "mcp"] == [("git", "off")]
    assert (used.sessions, used.runs, used.left_out) == (1, {"completed": 1}, [])
    with pytest.raises(bridle.UsageError, match="not open"):
        await b.agents()


async def test_the_sessions_of_the_daemon(home: Path, env: dict[str, str], tmp_path: Path):
    (tmp_path / "script.json").write_text(SCRIPT)
    daemon = DaemonProcess(home, env)
    await daemon.start()
    asked = []

    def approve(ask: bridle.ApprovalRequested) -> bool:
        asked.append((ask.tool, ask.args))
        return True

    @bridle.tool(access="write")
    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount} by process {os.getpid()}"

    async def look(context: bridle.ToolContext) -> str:
        """Look."""
        return f"looked for {context.session}"

    model = f"scripted/{tmp_path / 'script.json'}"
    try:
        async with bridle.open(
            daemon=True, environ=env, cwd=tmp_path, model=model, tools=[pay, look], approve=approve
        ) as b:
            for _ in range(2):
                session = await b.session("remote")
            result = await session.run("go")
            with pytest.raises(bridle.UsageError, match="tool deep needs the engine in its own process"):
                await b.session("remote", tools=[Deep()])
        async with daemon.reached() as api:
            stored = await api.ask(Records(bridle.SessionId("remote")))
    finally:
        daemon.close()

    assert result.text.splitlines() == [f"paid 3 by process {os.getpid()}", "looked for remote"]
    assert asked == [("pay", {"amount": 3})]
    assert [event.tool for event in events(stored, bridle.ToolStarted)] == ["pay", "look"]


async def test_the_old_name_of_the_session_api_warns():
    async with bridle.open(ephemeral=True) as b:
        with pytest.warns(DeprecationWarning, match=r"Bridle\.api"):
            assert b.door is b.api
