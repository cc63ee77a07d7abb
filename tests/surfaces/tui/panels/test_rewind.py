"""Rewinding: the plan is shown first, and other changes are overwritten only after a yes."""

from bridle.core.protocol import Rewind
from bridle.core.queries import RewindPlan
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.tui.panels.host import Point
from bridle.surfaces.tui.panels.rewind import RewindScreen
from tests.surfaces.tui.panels.stage import EVIL, SESSION, Stage, settled

POINTS = [
    Point(40, 1_700_000_000_000, "", undo=True),
    Point(20, 1_700_000_000_000, "and now\nthe tests", 3, 2),
    Point(1, 1_700_000_000_000, "fix the greeting", 1, 0),
]
CHANGE = FileChange("greet.py", FileState("file", 0o644, "a"), FileState("file", 0o644, "b"))


def stage(**plan) -> Stage:
    app = Stage()
    app.api.answers.points = POINTS
    app.api.answers.plan = RewindPlan(20, (CHANGE,), **plan)
    return app


async def opened(app: Stage, pilot, *keys: str) -> None:
    app.push_screen(RewindScreen(app, SESSION))
    await settled(pilot)
    await pilot.press(*keys)
    await settled(pilot)


async def test_a_prompt_is_chosen_seen_and_gone_back_to():
    app = stage(lost=("big.bin",))
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot)
        assert "before the last rewind (undoes it)" in app.text()
        assert "and now the tests  (3 turns, 2 file changes)" in app.text()
        await pilot.press("down", "enter")
        await settled(pilot)
        assert 'rewind to before "and now the tests": files and conversation' in app.text()
        assert '+print("hello")' in app.text()
        assert "! cannot be restored, too large to save: big.bin" in app.text()
        assert app.told == []
        await pilot.press("g")
        await settled(pilot)

        assert app.told == [("submit", SESSION, Rewind(20))]
        assert app.toasts == ['rewound; to undo it: F6, then "before the last rewind"']
        assert len(app.screen_stack) == 1


async def test_the_scope_can_be_chosen():
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, "down", "enter")
        await pilot.press("s")
        await settled(pilot)
        assert "files only" in app.text()
        assert "removed from the conversation" not in app.text()
        await pilot.press("g")
        await settled(pilot)
        await opened(app, pilot, "enter")
        await pilot.press("s", "s")
        await settled(pilot)
        assert "print" not in app.text()
        await pilot.press("g")
        await settled(pilot)

        commands = [command for _, _, command in app.told]
        assert commands == [Rewind(20, "files"), Rewind(40, "conversation")]


async def test_the_changes_of_others_are_overwritten_after_a_yes_only():
    app = stage(conflicts=("greet.py", EVIL))
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, "down", "enter")
        assert "! changed outside the session: greet.py" in app.text()
        await pilot.press("g", "enter")
        await settled(pilot)
        await pilot.press("g", "n", "o", "enter")
        await settled(pilot)
        assert app.told == []
        await pilot.press("g", "y", "enter")
        await settled(pilot)

        assert app.told == [("submit", SESSION, Rewind(20, "all", force=True))]


async def test_conflicts_do_not_matter_to_the_conversation():
    app = stage(conflicts=("greet.py",))
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, "down", "enter")
        await pilot.press("s", "s", "g")
        await settled(pilot)

        assert app.told == [("submit", SESSION, Rewind(20, "conversation"))]


async def test_a_fork_changes_nothing_here():
    app = stage()
    async with app.run_test(size=(40, 10)) as pilot:
        await opened(app, pilot, "down", "enter")
        await pilot.resize_terminal(1, 1)
        await pilot.press("f")
        await settled(pilot)

        assert app.told == [("fork", SESSION, 20), ("open", "forked")]


async def test_a_refusal_is_told_and_the_plan_stays():
    app = stage()
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(app, pilot, "down", "enter")
        app.api.refuses = True
        await pilot.press("g")
        await settled(pilot)

        assert app.toasts == ["the session does not want that\nhint: try [later]"]
        assert len(app.screen_stack) == 3
