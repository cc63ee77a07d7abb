"""Nothing is approved by accident, and every key of the card does what the table says."""

from msgspec.structs import replace
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from bridle.core.ids import CallId, SessionId
from bridle.core.protocol import Decide, Question, QuestionAsked, Reply
from bridle.surfaces.tui.panels.approval_card import ApprovalCard
from bridle.surfaces.tui.panels.host import Child
from bridle.surfaces.tui.panels.open_requests import FullScreenCard, OpenRequests
from tests.surfaces.tui.panels.stage import EVIL, SESSION, Stage, approval, head, settled

ALL = head(approvals=(approval("c1"), approval("c2", tool="write_file"), approval("c3")))


class AskedStage(Stage):
    """A stage that asks."""

    def __init__(self, guard_s: float = 0.0) -> None:
        super().__init__()
        self.asked = OpenRequests(self, guard_s=guard_s)
        self.widgets = (self.asked,)


async def show(app: AskedStage, pilot: Pilot[None], shown=None) -> None:
    app.asked.show_head(shown or head(approvals=(approval(),)))
    await pilot.pause()
    await pilot.pause()


def submitted(app: Stage) -> list[object]:
    assert all(told[:2] == ("submit", SESSION) for told in app.told)
    return [told[2] for told in app.told]


KEYS_AND_ANSWERS = {
    ("y",): Decide(CallId("0"), "once"),
    ("s",): Decide(CallId("1"), "session"),
    ("a",): Decide(CallId("2"), "always"),
    ("x",): Decide(CallId("3"), "stop", "stopped by the user"),
    ("n", "enter"): Decide(CallId("4"), "deny"),
    ("n", "n", "o", "enter"): Decide(CallId("5"), "deny", "no"),
}


async def test_a_key_decides():
    app = AskedStage()
    async with app.run_test() as pilot:
        for number, keys in enumerate(KEYS_AND_ANSWERS):
            await show(app, pilot, head(approvals=(approval(str(number)),)))
            await pilot.press(*keys)
            await pilot.pause()
            assert not app.asked.display
            assert app.prompt.has_focus

        assert submitted(app) == list(KEYS_AND_ANSWERS.values())


def spot_of(app: AskedStage, words: str) -> tuple[int, int]:
    lines = app.text().split("\n")
    row = next(at for at, line in enumerate(lines) if words in line)
    return lines[row].index(words), row


async def test_a_click_decides_as_its_key_does():
    app = AskedStage()
    async with app.run_test(size=(120, 24)) as pilot:
        for number, words in enumerate(("y yes", "s for this session", "x stop the run")):
            await show(app, pilot, head(approvals=(approval(str(number)),)))
            await pilot.click(offset=spot_of(app, words))
            await pilot.pause()
        await show(app, pilot, head(approvals=(approval("other"),)))
        await pilot.click(offset=spot_of(app, "Needs approval"))
        await pilot.pause()

        answers = [(one.call_id, one.answer) for one in submitted(app)]
        assert answers == [("0", "once"), ("1", "session"), ("2", "stop")]


async def test_a_click_comes_to_nothing_in_the_first_moment():
    app = AskedStage(guard_s=60)
    async with app.run_test(size=(120, 24)) as pilot:
        await show(app, pilot)
        await pilot.click(offset=spot_of(app, "y yes"))
        await pilot.pause()

        assert submitted(app) == []


async def test_no_other_key_decides():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot)
        await pilot.press("enter", "space", "Y", "q", "1", "up", "ctrl+j")
        await pilot.pause()

        assert submitted(app) == []
        assert app.asked.display


async def test_keys_come_to_nothing_in_the_first_moment():
    app = AskedStage(guard_s=60)
    async with app.run_test() as pilot:
        await show(app, pilot)
        assert app.asked.has_focus_within
        await pilot.press("y", "a", "n", "enter")
        await pilot.pause()

        assert submitted(app) == []
        assert not app.asked.query(Input)


async def test_a_question_is_not_answered_in_the_first_moment_either():
    app = AskedStage(guard_s=60)
    async with app.run_test() as pilot:
        for choices in (("yes", "no"), ()):
            asked = QuestionAsked(CallId(f"q{len(choices)}"), Question("Delete all?", choices))
            await show(app, pilot, head(questions=(asked,)))
            assert app.asked.has_focus_within
            await pilot.press("y", "space", "enter", "enter")
            await pilot.pause()

            assert submitted(app) == []


async def test_the_first_moment_begins_anew_with_every_card():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot)
        app.asked._guard_s = 60
        await show(app, pilot, head(approvals=(approval("c2"),)))
        await pilot.press("y")
        await pilot.pause()

        assert submitted(app) == []


async def test_what_is_typed_into_the_prompt_is_no_answer():
    app = AskedStage()
    async with app.run_test() as pilot:
        await pilot.press("h", "e")
        await show(app, pilot)
        await pilot.press("y", "a", "enter")

        assert app.prompt.value == "heya"
        assert submitted(app) == []


async def test_what_somebody_else_has_decided_is_gone():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot, ALL)
        await show(app, pilot, head(approvals=ALL.approvals[1:]))
        assert [card.request.call_id for card in app.asked.query(ApprovalCard)] == ["c2"]
        await show(app, pilot, head())

        assert not app.asked.display
        assert not app.asked.query(ApprovalCard)
        assert app.prompt.has_focus
        assert submitted(app) == []


async def test_several_are_shown_one_after_the_other():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot, ALL)
        assert "1 of 3" in app.text()
        await pilot.press("tab")
        await pilot.pause()
        assert "2 of 3" in app.text()
        assert "write_file" in app.text()
        await pilot.press("y")
        await pilot.pause()
        await pilot.press("x")
        await pilot.pause()

        assert submitted(app) == [
            Decide(CallId("c2"), "once"),
            Decide(CallId("c1"), "stop", "stopped by the user"),
        ]


async def test_a_refused_answer_is_asked_again():
    app = AskedStage()
    app.api.refuses = True
    async with app.run_test() as pilot:
        await show(app, pilot)
        await pilot.press("y")
        await settled(pilot)

        assert app.toasts == ["the session does not want that\nhint: try [later]"]
        assert app.asked.display
        app.api.refuses = False
        app.asked.take_focus()
        await pilot.press("y")
        await pilot.pause()

        assert submitted(app) == [Decide(CallId("c1"), "once")]


async def test_an_edited_rule_goes_with_the_answer():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot)
        await pilot.press("e")
        await pilot.pause()
        field = app.screen.query_one(TextArea)
        assert field.text == "edit_file(*.py)"
        assert (field.size.height, "Enter done" in app.text()) == (1, True)
        field.text = "edit_file(../x)"
        await pilot.press("enter")
        await pilot.pause()
        assert "malformed rule" in app.text()
        field.text = "edit_file(src/**)"
        field.move_cursor(field.document.end)
        await pilot.press("ctrl+j", *"bash", "enter")
        await pilot.pause()
        await pilot.pause()
        assert "edit_file(src/**), bash" in app.text()
        assert submitted(app) == []
        await pilot.press("a")
        await pilot.pause()

        assert submitted(app) == [Decide(CallId("c1"), "always", rules=("edit_file(src/**)", "bash"))]


async def test_a_lasting_answer_needs_a_rule():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot, head(approvals=(approval(suggestions=()),)))
        await pilot.press("s", "a")
        await pilot.pause()

        assert submitted(app) == []
        assert "let through" not in app.text()


async def test_the_whole_screen_answers_too_and_closes_when_somebody_else_did():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot, ALL)
        await pilot.press("f")
        await pilot.pause()
        assert isinstance(app.screen, FullScreenCard)
        await pilot.press("y")
        await pilot.pause()
        assert submitted(app) == [Decide(CallId("c1"), "once")]
        assert not isinstance(app.screen, FullScreenCard)
        await pilot.press("f")
        await pilot.pause()
        assert isinstance(app.screen, FullScreenCard)
        await show(app, pilot, head(approvals=ALL.approvals[2:]))

        assert not isinstance(app.screen, FullScreenCard)
        assert len(submitted(app)) == 1


async def test_escape_goes_to_the_prompt_and_nothing_is_decided():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot)
        await pilot.press("n", "escape")
        await pilot.pause()
        assert not app.asked.query(Input)
        await pilot.press("escape")
        await pilot.pause()

        assert app.prompt.has_focus
        assert app.asked.display
        assert submitted(app) == []


async def test_a_diff_is_shown_in_two_columns_where_there_is_room():
    app = AskedStage()
    async with app.run_test(size=(120, 40)) as pilot:
        await show(app, pilot)
        assert '2 -print("helo")' in app.text()
        assert '│ 2 +print("hello")' in app.text()
        await pilot.press("v")
        await pilot.pause()
        assert '│ 2 +print("hello")' not in app.text()
        await pilot.press("v")
        await pilot.resize_terminal(80, 24)
        await pilot.pause()

        assert '│ 2 +print("hello")' not in app.text()
        assert '  2 +print("hello")' in app.text()


async def test_a_sub_agent_is_named():
    app = AskedStage()
    child = SessionId("child-1")
    app.api.answers.children = [Child(child, SESSION, "scout")]
    async with app.run_test() as pilot:
        await show(app, pilot, head(approvals=(approval(child=child),)))

        assert "Needs approval for scout: writes a file (mode ask)" in app.text()
        assert "for this sub-agent" in app.text()


async def test_no_size_and_no_text_breaks_a_card():
    app = AskedStage()
    evil = approval(tool=EVIL, why=EVIL, preview=EVIL, suggestions=(EVIL,), args={"path": EVIL})
    code = approval("c9", tool="python", args={"code": EVIL}, preview="")
    async with app.run_test(size=(80, 24)) as pilot:
        await show(app, pilot, head(approvals=(evil, code)))
        await pilot.press("f")
        for size in ((1, 1), (80, 24)):
            await pilot.resize_terminal(*size)
        await pilot.press("escape")
        for size in ((40, 10), (3, 3), (1, 1), (120, 40), (80, 24)):
            await pilot.resize_terminal(*size)
            app.asked.show_next()
            await settled(pilot)
            assert "\x1b" not in app.text()
            assert "\u202e" not in app.text()

        assert submitted(app) == []


# ---------------------------------------------------------------------------- questions

ONE = QuestionAsked(CallId("q1"), Question("Which one?", ("red", "blue")))
SEVERAL = QuestionAsked(CallId("q1"), Question("Which ones?", ("red", "blue", "green"), several=True))
OPEN = QuestionAsked(CallId("q1"), Question("What is it called?"))


ANSWERS = [
    (ONE, ("down", "enter"), ("blue",)),
    (ONE, ("space", "enter"), ("red",)),
    (ONE, ("2",), ("blue",)),
    (ONE, ("9", "x"), ()),
    (ONE, ("o", "2", "enter"), ("2",)),
    (SEVERAL, ("3", "1", "enter"), ("red", "green")),
    (ONE, ("o", "p", "enter"), ("p",)),
    (SEVERAL, ("space", "down", "down", "space", "enter"), ("red", "green")),
    (SEVERAL, ("space", "space", "down", "enter"), ("blue",)),
    (OPEN, ("enter", "M", "enter"), ("M",)),
    (OPEN, ("escape", "x"), ()),
]


async def test_a_question_is_answered():
    app = AskedStage()
    async with app.run_test() as pilot:
        for number, (asked, keys, _) in enumerate(ANSWERS):
            await show(app, pilot, head(questions=(replace(asked, call_id=CallId(str(number))),)))
            await pilot.press(*keys)
            await pilot.pause()

        answers = [answers for _, _, answers in ANSWERS]
        assert submitted(app) == [Reply(CallId(str(number)), one) for number, one in enumerate(answers)]


async def test_a_question_goes_on_waiting_when_it_is_left():
    app = AskedStage()
    async with app.run_test() as pilot:
        await show(app, pilot, head(questions=(ONE,)))
        await pilot.press("escape")
        await pilot.pause()

        assert app.prompt.has_focus
        assert "Which one?" in app.text()
        assert submitted(app) == []


async def test_a_hostile_question_is_shown_and_not_obeyed():
    app = AskedStage()
    async with app.run_test(size=(40, 10)) as pilot:
        await show(app, pilot, head(questions=(QuestionAsked(CallId("q"), Question(EVIL, (EVIL, EVIL))),)))

        assert "\x1b" not in app.text()
        assert "\\x1b]0;owned\\x07 [red]bold" in app.text()


async def test_no_line_of_a_command_is_lost_because_it_looks_like_a_diff():
    command = (
        "true\nindex $(evil one)\n--- a\t$(evil two)\n+++ b\ndiff --git $(evil three)\n@@ -1 +1 @@\n-x\n+x"
    )
    app = AskedStage()
    async with app.run_test(size=(100, 40)) as pilot:
        for tool in ("bash", "agent", "mcp__server__tool"):
            asked = approval(tool, tool=tool, preview=f"$ {command}\n(in .; no sandbox)", args={})
            await show(app, pilot, head(approvals=(asked,)))

            assert [words for words in ("one", "two", "three") if f"$(evil {words})" not in app.text()] == []
