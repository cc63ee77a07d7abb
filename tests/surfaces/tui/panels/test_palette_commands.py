"""The table of commands: every command can run, with and without an open session."""

from pathlib import Path

from textual.widgets import Input

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Archive, Cancel, Compact, Pin, QueuedPrompt, Rename, Resume, Todo
from bridle.core.queries import Diff, NextContext
from bridle.core.revision import FileChange, FileState
from bridle.core.server_views import ServerView
from bridle.surfaces.shared.folder_info import AgentRow, ModelView
from bridle.surfaces.tui.keys import KEYS
from bridle.surfaces.tui.panels.host import Child
from bridle.surfaces.tui.panels.palette_commands import COMMANDS, run_command, system_commands
from bridle.surfaces.tui.panels.sidebar import SideBar, SideScreen
from tests.surfaces.tui.panels.stage import DIFF, EVIL, SESSION, USED, Stage, head, settled

FULL = head(
    todos=(Todo("read", "completed"), Todo(EVIL, "in_progress")),
    queue=(QueuedPrompt("q1", user_message(EVIL)),),
    pins=("keep this",),
    context=USED,
    files_seq=3,
    children_seq=4,
)


def model(ref: str, *, has_key: bool) -> ModelView:
    return ModelView(
        ref, "anthropic", 200_000, 1, None, True, None, True, None, {}, "ANTHROPIC_API_KEY", has_key, True
    )


def stage(front=FULL) -> Stage:
    app = Stage(head=front)
    answers = app.api.answers
    answers.models = [model("a/keyless", has_key=False), model("b/ready", has_key=True)]
    answers.agents = [
        AgentRow("coder", "Coder", "built in", "ask", "", None),
        AgentRow(EVIL, "", "user", "", "", (), EVIL),
    ]
    answers.servers = [
        ServerView("mcp", EVIL, "ready", tools=2),
        ServerView("lsp", "pyright", "failed", EVIL),
    ]
    answers.children = [
        Child(SessionId("k1"), SESSION, "scout", EVIL, running=True, tokens=12, cost=0.5),
        Child(SessionId("k2"), SessionId("k1"), EVIL, outcome="failed"),
    ]
    answers.diff = Diff(
        [FileChange("greet.py", None, FileState("file")), FileChange(EVIL, FileState("file"))], DIFF
    )
    answers.context = NextContext("m", "You are", (), (user_message(EVIL),), USED, (3,))
    return app


async def typed(app: Stage, pilot, name: str, *keys: str) -> None:
    """Run a command, then press keys in what it opens."""
    run_command(app, name)
    await settled(pilot)
    await pilot.press(*keys)
    await settled(pilot)


def test_every_key_of_the_app_has_a_command():
    names = {row.name for row in KEYS if row.scope == "app"} - {"palette"}

    assert names <= set(COMMANDS)
    assert [one.title for one in system_commands(Stage())] == [name.replace("_", " ") for name in COMMANDS]


async def test_every_command_can_be_run_at_every_size():
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        for at, name in enumerate(COMMANDS):
            run_command(app, name)
            await settled(pilot)
            assert "\x1b" not in app.text()
            if at % 5 == 0:
                await pilot.resize_terminal(1, 1)
                await pilot.resize_terminal(80, 24)
            while len(app.screen_stack) > 1:
                app.pop_screen()


async def test_without_a_session_that_is_said():
    app = stage(None)
    async with app.run_test() as pilot:
        for name in ("queue", "rewind", "compact", "delete", "usage"):
            run_command(app, name)
        await settled(pilot)

        assert app.toasts == ["no session yet: write a prompt first"] * 5
        assert len(app.screen_stack) == 1


async def test_commands_for_the_session_in_front():
    app = stage()
    async with app.run_test() as pilot:
        await typed(app, pilot, "compact", "n", "enter")
        await typed(app, pilot, "pin", "enter")
        await typed(app, pilot, "pin", "b", "enter")
        await typed(app, pilot, "pins", "enter")
        await typed(app, pilot, "rename", "ctrl+u", "H", "enter")
        await typed(app, pilot, "archive")
        await typed(app, pilot, "stop_run")
        await typed(app, pilot, "resume")
        await typed(app, pilot, "fork")
        await typed(app, pilot, "delete", "enter")
        await typed(app, pilot, "delete", "y", "enter")

        commands = [
            Compact("n"),
            Pin("b"),
            Pin("keep this", pinned=False),
            Rename("H"),
            Archive(True),
            Cancel("cancelled by the user"),
            Resume(),
        ]
        rest = [("fork", SESSION, None), ("open", "forked"), ("delete", SESSION), ("gone", SESSION)]
        assert app.told == [*(("submit", SESSION, command) for command in commands), *rest]


async def test_what_is_chosen_for_the_next_prompts():
    app = stage()
    async with app.run_test() as pilot:
        await typed(app, pilot, "models", "down", "enter")
        assert app.toasts == ["a/keyless needs a key: set ANTHROPIC_API_KEY"]
        await pilot.press(*"rea", "enter")
        await settled(pilot)
        await typed(app, pilot, "agents", "c", "enter")
        await typed(app, pilot, "mode", "down", "enter")
        await typed(app, pilot, "effort", "down", "enter")
        await typed(app, pilot, "theme", "down", "enter")
        await typed(app, pilot, "diff_style")
        await typed(app, pilot, "new")
        await typed(app, pilot, "new_in", "enter")
        await typed(app, pilot, "children", "enter")

        assert app.told == [
            ("model", "b/ready"),
            ("agent", "coder"),
            ("mode", "plan"),
            ("effort", "minimal"),
            ("theme", "light"),
            ("diff style", "unified"),
            ("new", ""),
            ("new", "/project"),
            ("open", "k1"),
        ]


async def test_an_export_is_written_once(tmp_path: Path):
    app = stage()
    app.cwd = str(tmp_path)
    async with app.run_test() as pilot:
        await typed(app, pilot, "export", "x", "enter")
        assert "the name must end in .md, .json or .html" in app.text()
        app.screen.query_one(Input).value = "a.html"
        await pilot.press("enter")
        await settled(pilot)
        (tmp_path / "session-s1.md").write_text("mine")
        await typed(app, pilot, "export", "enter")

        assert app.told == [("export", SESSION, "html"), ("export", SESSION, "md")]
        assert app.toasts == [f"written to {tmp_path}/a.html", f"{tmp_path}/session-s1.md: File exists"]
        assert (tmp_path / "a.html").read_text() == "a document as html"
        assert (tmp_path / "session-s1.md").read_text() == "mine"


async def test_the_side_bar_shows_the_session_and_asks_anew_when_it_moves():
    app = stage()
    bar = SideBar(app)
    app.widgets = (bar,)
    async with app.run_test(size=(50, 60)) as pilot:
        bar.show_head(FULL)
        await settled(pilot)
        text = app.text()
        assert "to do 1 of 2\n [x] read\n [>] \\x1b]0;owned\\x07" in text
        assert "changed files 2\n + greet.py\n - \\x1b" in text
        assert "sub-agents 2\n ▶ scout running 12 tokens, $0.5000\n └ ✗ \\x1b" in text
        assert "✗ lsp pyright failed" in text
        app.api.answers.children = app.api.answers.children[:1]
        bar.show_head(head(context=USED, children_seq=9, files_seq=0))
        await settled(pilot)
        assert "sub-agents 1\n" in app.text()
        assert "changed files" not in app.text()
        bar.show_head(None)
        app.push_screen(SideScreen(app))
        await settled(pilot)

        assert "to do 1 of 2" in app.text()
