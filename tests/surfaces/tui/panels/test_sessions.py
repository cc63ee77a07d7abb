"""The list of sessions: its content, its search, and its keys."""

import re

from bridle.core.ids import RunId, SessionId
from bridle.core.protocol import Archive, Rename, RunEnded, SessionCreated, SessionFacts
from bridle.core.session_api import LiveSession
from bridle.core.session_status import SessionStatus
from bridle.core.summary import SessionSummary
from bridle.surfaces.tui.panels.rewind import RewindScreen
from bridle.surfaces.tui.panels.sessions import SessionsScreen
from tests.surfaces.tui.panels.stage import EVIL, Stage, head, settled


def summary(name: str, title: str, **fields) -> SessionSummary:
    values = {"cwd": "/project", "agent": "default", "created_at": 1, "updated_at": 1_700_000_000_000}
    return SessionSummary(id=SessionId(name), title=title, last_seq=9, **(values | fields))


SESSIONS = [
    summary("s1", "Fix the greeting", outcome="completed"),
    summary("s2", "Rename things", unfinished=True),
    summary("s3", "Ask about it", unfinished=True),
    summary("s4", "Elsewhere", cwd="/other", outcome="failed"),
    summary("s5", "Put away", archived=True, outcome="cancelled"),
    summary("s6", "scout: look", sub_agent=True, parent=SessionId("s1"), outcome="completed"),
]


def stage() -> Stage:
    app = Stage(head=head())
    app.api.answers.sessions = SESSIONS
    app.live = {
        SessionId("s3"): LiveSession(SessionId("s3"), "Ask about it", "/project", "default", "waiting")
    }
    facts = SessionFacts(SessionCreated(SessionId("s1"), "/project"))
    ended = RunEnded(RunId("r"), "completed", "All is *well* \x1b[31mnow")
    app.api.answers.glance = SessionStatus(9, 9, facts, last=ended)
    return app


def rows(app: Stage) -> list[str]:
    """Return the lines of the list as words, without their times."""
    shown = [line.strip("│ ") for line in app.text().split("\n") if re.search(r"\d\d\d\d-\d\d-\d\d", line)]
    return [" ".join(re.sub(r"\d\d\d\d-\d\d-\d\d", "", line).split()) for line in shown]


async def test_the_list_shows_state_folder_and_last_answer():
    app = stage()
    async with app.run_test(size=(120, 30)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        here = ["✓ done Fix the greeting (in front)", "… cut off Rename things", "? waiting Ask about it"]
        assert rows(app) == here
        assert "All is *well* \\x1b[31mnow" in app.text()
        await pilot.press("h", "z")
        await settled(pilot)

        assert rows(app) == [
            "✓ done Fix the greeting (in front) /project",
            "… cut off Rename things /project",
            "? waiting Ask about it /project",
            "✗ failed Elsewhere /other",
            "✗ cancelled Put away (archived) /project",
        ]


async def test_a_search_looks_at_title_folder_and_id():
    app = stage()
    async with app.run_test(size=(120, 30)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        await pilot.press("slash", *"REN th")
        await settled(pilot)
        assert rows(app) == ["… cut off Rename things"]
        await pilot.press("escape", *"s3")
        await settled(pilot)
        assert rows(app) == ["? waiting Ask about it"]
        await pilot.press("enter")
        await settled(pilot)

        assert app.told == [("open", "s3")]
        assert not isinstance(app.screen, SessionsScreen)


async def test_sessions_are_renamed_archived_and_forked():
    app = stage()
    async with app.run_test(size=(120, 30)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        await pilot.press("down", "r")
        await settled(pilot)
        await pilot.press("ctrl+u", "enter", "N", "enter")
        await settled(pilot)
        await pilot.press("a")
        await settled(pilot)
        await pilot.press("f")
        await settled(pilot)

        assert app.told == [
            ("submit", "s2", Rename("N")),
            ("submit", "s2", Archive(True)),
            ("fork", "s2", None),
            ("open", "forked"),
        ]


async def test_only_a_typed_y_deletes():
    app = stage()
    async with app.run_test(size=(120, 30)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        for keys in (("d", "enter"), ("d", "n", "enter"), ("d", "y", "escape")):
            await pilot.press(*keys)
            await settled(pilot)
        assert app.told == []
        assert isinstance(app.screen, SessionsScreen)
        await pilot.press("d", "y", "enter")
        await settled(pilot)

        assert app.told == [("delete", "s1"), ("gone", "s1")]


async def test_a_new_session_and_going_back():
    app = stage()
    async with app.run_test(size=(120, 30)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        await pilot.press("b")
        await settled(pilot)
        assert isinstance(app.screen, RewindScreen)
        await pilot.press("escape", "n")
        await settled(pilot)

        assert app.told == [("new", "/project")]


async def test_hostile_titles_are_shown_at_every_size():
    app = stage()
    app.api.answers.sessions = [
        summary("s1", EVIL, cwd="/project"),
        *(summary(f"x{n}", EVIL) for n in range(600)),
    ]
    async with app.run_test(size=(80, 24)) as pilot:
        app.push_screen(SessionsScreen(app))
        await settled(pilot)
        assert "\\x1b]0;owned\\x07 [red]bold[/red]" in app.text()
        for size in ((40, 10), (1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.press("down", "end")
            await settled(pilot)
            assert "\x1b" not in app.text()

        assert "search (101 more not shown)" in app.text()
