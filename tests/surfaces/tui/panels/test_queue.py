"""Queued prompts can be edited, removed and sent to the active run."""

from bridle.core.ids import RunId
from bridle.core.messages import Media, Message, Text, user_message
from bridle.core.protocol import DropQueued, EditQueued, QueuedPrompt
from bridle.surfaces.shared.view_model.view_types import RunHead
from bridle.surfaces.tui.panels.host import update_windows
from bridle.surfaces.tui.panels.queue import QueueScreen
from tests.surfaces.tui.panels.stage import SESSION, Stage, head, settled

PICTURE = Media("image/png", "AAAA", "a.png")
FIRST = QueuedPrompt("q1", Message("user", (Text("run the tests"), PICTURE)))
SECOND = QueuedPrompt("q2", user_message("hurry"), delivery="steer")
RUN = RunHead(RunId("r1"), "m", "ask", 1)


async def test_a_prompt_is_changed_and_keeps_what_is_attached():
    app = Stage(head=head(queue=(FIRST, SECOND), run=RUN))
    async with app.run_test() as pilot:
        app.push_screen(QueueScreen(app))
        await settled(pilot)
        assert "after the run    run the tests and 1 attached" in app.text()
        assert "at the next turn hurry" in app.text()
        await pilot.press("e")
        await settled(pilot)
        await pilot.press("ctrl+j", *"all", "enter")
        await settled(pilot)
        await pilot.press("e", "escape", "e", "enter")
        await settled(pilot)

        message = Message("user", (Text("run the tests\nall"), PICTURE))
        assert app.told == [("submit", SESSION, EditQueued("q1", message))]


async def test_a_prompt_is_removed_or_steered():
    app = Stage(head=head(queue=(FIRST, SECOND), run=RUN))
    async with app.run_test() as pilot:
        app.push_screen(QueueScreen(app))
        await settled(pilot)
        await pilot.press("s")
        await settled(pilot)
        await pilot.press("down", "s", "d")
        await settled(pilot)

        app.head = head(queue=(SECOND,), run=RUN)
        update_windows(app, app.head)
        await settled(pilot)

        assert "run the tests" not in app.text()
        assert app.told == [
            ("submit", SESSION, EditQueued("q1", FIRST.message, "steer")),
            ("submit", SESSION, DropQueued("q2")),
        ]
        assert app.toasts == ["the run already gets it at its next turn"]


async def test_nothing_is_lost_when_the_run_does_not_take_it():
    app = Stage(head=head(queue=(FIRST,), run=RUN))
    app.api.refuses = True
    async with app.run_test() as pilot:
        app.push_screen(QueueScreen(app))
        await settled(pilot)
        await pilot.press("s")
        await settled(pilot)
        app.head = head(queue=(FIRST,))
        await pilot.press("s")
        await settled(pilot)

        assert app.told == []
        assert app.toasts == ["the session does not want that\nhint: try [later]", "no run is active"]
