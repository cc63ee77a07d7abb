"""The whole interface with a real service: prompts, answers, queue, steering, and no lost input."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from textual import events
from textual.geometry import Size

from bridle.core.errors import ConfigError
from bridle.core.protocol import RunEnded
from bridle.core.queries import ListSessions
from bridle.core.session_api import SessionApi
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.tui.stage import Tui, tui

SESSION = "play"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


async def test_a_prompt_begins_a_session_and_gets_its_answer(home: Path, cwd: Path):
    async with (
        Stage(Play(says("**Hello** you")), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd) as shown,
    ):
        await shown.sees("new session", "send; end a line with", "write a prompt")
        await shown.type("hi there")
        await shown.press("enter")
        await shown.sees("▌ hi there", "Hello you", "✓ done", "hi there · default · scripted/play · ask")

        assert shown.typed == ""
        assert len(await stage.service.ask(ListSessions())) == 2  # that of the stage, and the new one


async def test_a_prompt_while_a_run_is_active_waits(home: Path, cwd: Path):
    play = Play(says("first answer"), says("second answer"), hold=True)
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("one")
        await shown.sees("running", "Enter to queue · Ctrl+S or Alt+Enter to steer")
        await shown.send("two")
        await shown.sees("1 queued")
        play.go.set()
        await shown.sees("first answer", "▌ two", "second answer")

        assert "PromptQueued" in await stage.kinds()


async def test_steering_enters_the_active_run(home: Path, cwd: Path):
    ready = asyncio.Event()
    tool = SmallTool("look", lambda on: _after(ready, "seen"))
    play = Play(says("", call("c1", "look")), says("all done"))
    async with (
        Stage(play, tools=[tool], cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd, session=SESSION) as shown,
    ):
        await shown.send("go")
        await shown.until(lambda: tool.calls)
        await shown.type("rather this")
        await shown.press("ctrl+s")
        await shown.sent()
        ready.set()
        await shown.sees("rather this", "all done")

        assert (await stage.kinds()).count("RunStarted") == 1


async def _after(ready: asyncio.Event, result: str) -> str:
    await ready.wait()
    return result


@pytest.mark.parametrize("keys", [("escape", "escape"), ("ctrl+c",)])
async def test_keys_cancel_the_run(home: Path, cwd: Path, keys: tuple[str, ...]):
    play = Play(says("never said"), hold=True)
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("go")
        await shown.sees("running")
        await shown.press(*keys)
        ended = await stage.until(RunEnded)
        await shown.sees("cancelled")

        assert (ended.outcome, ended.reason) == ("cancelled", "cancelled by the user")


async def test_one_escape_cancels_nothing(home: Path, cwd: Path):
    play = Play(says("said at last"), hold=True)
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("go")
        await shown.sees("running")
        await shown.press("escape")
        await shown.sees("press Esc again to cancel the run")
        play.go.set()
        await shown.sees("said at last", "✓ done")


async def test_a_prompt_that_was_refused_comes_back(home: Path, cwd: Path):
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("/nosuchskill now")
        await shown.sees("not sent: no skill is named")

        assert shown.typed == "/nosuchskill now"
        assert await stage.kinds() == []


async def test_lines_end_with_a_backslash_or_a_key(home: Path, cwd: Path):
    async with Stage(Play(says("ok")), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        await shown.type("one\\")
        await shown.press("enter")
        await shown.type("two")
        await shown.press("shift+enter")
        await shown.type("three")

        assert shown.typed == "one\ntwo\nthree"
        assert shown.app.editor.size.height == 3
        await shown.press("ctrl+q")
    assert await stage.kinds() == []


async def test_the_prompt_grows_to_a_third_of_the_screen(home: Path, cwd: Path):
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        shown.app.editor.put("\n".join(map(str, range(50))))
        await shown.pilot.pause()

        assert shown.app.editor.size.height == 7


async def test_earlier_prompts_come_back_with_the_up_key(home: Path, cwd: Path):
    play = Play(says("a"))
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("first")
        await shown.sees("✓ done")
    async with (
        Stage(Play(says("a"), says("b")), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd) as shown,
    ):
        await shown.type("half")
        await shown.press("up")
        assert shown.typed == "first"
        await shown.press("down")
        assert shown.typed == "half"


async def test_a_long_paste_is_a_mark_and_is_sent_whole(home: Path, cwd: Path):
    play = Play(says("thanks"))
    text = "\n".join(f"line {number}" for number in range(120))
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.type("see ")
        shown.app.editor.post_message(events.Paste(text.replace("\n", "\r\n")))
        await shown.pilot.pause()
        assert shown.typed == "see [paste #1: 120 lines]"
        await shown.press("enter")
        await shown.sees("thanks")

        assert play.requests[0].messages[-1].text == f"see {text}"


async def test_control_characters_of_a_paste_are_shown(home: Path, cwd: Path):
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        shown.app.editor.post_message(events.Paste("a\x1b[31mb"))
        await shown.pilot.pause()

        assert shown.typed == "a\\x1b[31mb"


async def test_files_complete_after_an_at_sign(home: Path, cwd: Path):
    (cwd / "src").mkdir()
    (cwd / "src" / "main.py").write_text("")
    (cwd / "src" / "mend.py").write_text("")
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        await shown.type("see @m.py")
        await shown.sees("@src/main.py", "@src/mend.py")
        await shown.press("down", "tab")
        assert shown.typed == "see @src/mend.py "

        await shown.type("@src/ma")
        await shown.sees("@src/main.py")
        await shown.press("enter")
        assert shown.typed == "see @src/mend.py @src/main.py "

        await shown.type("@mend")
        await shown.until(lambda: shown.app.editor._found)
        await shown.press("escape")
        assert "@mend" in shown.typed
        assert not shown.app.editor._found


async def test_skills_complete_and_are_expanded(home: Path, cwd: Path):
    skill = home / "skills" / "review" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: review\ndescription: Look at it\n---\nLook at $ARGUMENTS.\n")
    play = Play(says("looked"))
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        await shown.type("/rev")
        await shown.sees("/review  Look at it")
        await shown.press("tab")
        await shown.type("this")
        await shown.press("enter")
        await shown.sees("looked")

        assert play.requests[0].messages[-1].text.endswith("\nLook at this.")
        assert shown.app.front.head is not None
        assert shown.app.front.head.title == "/review this"


async def test_modes_go_round_and_hold_for_the_next_prompt(home: Path, cwd: Path):
    async with (
        Stage(Play(says("planned")), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd, session=SESSION) as shown,
    ):
        await shown.press("shift+tab")
        await shown.sees("· plan")
        await shown.press("shift+tab")
        await shown.sees("· accept-edits")
        await shown.press("shift+tab", "shift+tab")
        await shown.send("go")
        await shown.sees("planned")

        assert [event.mode for event in await stage.log() if hasattr(event, "mode")] == ["plan"]


async def test_each_session_keeps_its_own_draft(home: Path, cwd: Path):
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.type("for this one")
        await shown.press("ctrl+n")
        assert shown.typed == ""
        await shown.type("for a new one")
        await shown.press("ctrl+pagedown")
        assert (shown.app.front.session, shown.typed) == (SESSION, "for this one")
        await shown.press("ctrl+q")
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        assert shown.typed == "for a new one"


@pytest.mark.parametrize("size", [(1, 1), (2, 40), (200, 1), (20, 5), (40, 10)])
async def test_any_size_does(home: Path, cwd: Path, size: tuple[int, int]):
    async with (
        Stage(Play(says("an answer")), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd, session=SESSION, size=size) as shown,
    ):
        await shown.send("go")
        await stage.until(RunEnded)
        for next_size in ((0, 0), (1, 1), (80, 24)):
            shown.app.post_message(events.Resize(Size(*next_size), Size(*next_size)))
            await shown.pilot.pause()
        await shown.pilot.resize_terminal(80, 24)
        await shown.sees("an answer")


async def test_settings_change_keys(home: Path, cwd: Path):
    config = 'tui.keys = {send = ["f12"], new_line = ["enter"]}\n'
    async with (
        Stage(Play(says("yes")), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd, session=SESSION, config=config) as shown,
    ):
        await shown.sees("F1 for help")
        await shown.type("a")
        await shown.press("enter")
        await shown.type("b")
        assert shown.typed == "a\nb"
        await shown.press("f12")
        await shown.sees("yes")


async def test_keys_that_clash_are_an_error_at_the_start(home: Path, cwd: Path):
    with pytest.raises(ConfigError, match=r"tui\.keys\.send: Ctrl\+S is the key of steer"):
        async with tui(Stage(Play()).service, home, cwd, config='tui.keys.send = ["ctrl+s"]\n'):
            pass


async def test_a_hostile_title_is_shown_and_not_obeyed(home: Path, cwd: Path):
    async with Stage(Play(), cwd=str(cwd)) as stage:
        session = await stage.service.create(cwd=str(cwd), title="\x1b[2Jev\u202eil [red]x[/red]")
        async with tui(stage.service, home, cwd, session=session) as shown:
            await shown.sees("\\x1b[2Jev\\u202eil [red]x[/red] · default")


async def test_a_session_that_does_not_exist_is_told(home: Path, cwd: Path):
    async with (
        Stage(Play(), cwd=str(cwd)) as stage,
        tui(stage.service, home, cwd, session="nowhere") as shown,
    ):
        await shown.sees("nowhere", "new session")


async def test_who_looks_elsewhere_is_told(home: Path, cwd: Path):
    play = Play(says("done now"), hold=True)
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        written: list[str] = []
        assert shown.app._driver is not None
        shown.app._driver.write = written.append  # type: ignore[method-assign]
        await shown.send("go")
        await shown.until(lambda: any(live.state == "running" for live in shown.app.live.values()))
        shown.app.post_message(events.AppBlur())
        await shown.pilot.pause()
        play.go.set()
        await shown.until(lambda: "\a" in written)


async def test_leaving_an_active_run_of_this_process_is_asked_about(home: Path, cwd: Path):
    play = Play(says("never"), hold=True)
    async with Stage(play, cwd=str(cwd)) as stage, tui(stage.service, home, cwd, session=SESSION) as shown:
        await shown.send("go")
        await shown.until(lambda: any(live.state == "running" for live in shown.app.live.values()))
        await shown.press("ctrl+q")
        await shown.sees("A run is active in this process")
        await shown.press("enter")
        await shown.sees("running")
        await shown.press("ctrl+q")
        await shown.press("y", "enter")
        await shown.until(lambda: shown.app.return_value is not None)


@pytest.fixture
async def idle(home: Path, cwd: Path) -> AsyncIterator[Tui]:
    async with Stage(Play(), cwd=str(cwd)) as stage, tui(stage.service, home, cwd) as shown:
        yield shown


async def test_ctrl_c_empties_the_prompt_and_leaves_only_when_pressed_again(idle: Tui):
    await idle.type("something")
    await idle.press("ctrl+c")
    assert idle.typed == ""
    await idle.press("up")
    assert idle.typed == "something"
    await idle.press("ctrl+c", "ctrl+c")
    await idle.sees("press Ctrl+C again to quit")
    assert idle.app.return_value is None
    await idle.press("ctrl+c")
    assert idle.app.return_value is not None


async def test_a_prompt_that_was_sent_before_there_is_a_connection_is_answered(home: Path, cwd: Path):
    ready = asyncio.Event()
    async with Stage(Play(says("an answer")), cwd=str(cwd)) as stage:

        async def opened() -> SessionApi:
            await ready.wait()
            return stage.service

        async with tui(opened, home, cwd, waits=False) as shown:
            await shown.sees("connecting")
            await shown.send("hello")
            ready.set()
            await shown.sees("▌ hello", "an answer")
