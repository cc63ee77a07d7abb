"""The widget, driven like in the terminal interface."""

import asyncio
from collections.abc import Callable

import pytest
from textual.app import App, ComposeResult
from textual.message import Message

from bridle.core.ids import SessionId
from bridle.surfaces.shared.view_model.view_types import Drop, Flash, Grow, Put, Thought
from bridle.surfaces.tui.conversation import Conversation
from bridle.surfaces.tui.conversation.loaded_rows import KEPT_ROWS, MAX_ROWS
from bridle.surfaces.tui.theme import THEMES
from tests.patience import PATIENCE_S
from tests.surfaces.tui.conversation.samples import answer, call, page, said, view
from tests.surfaces.tui.conversation.test_cards import DIFF

HOSTILE = "\x1b[2J漢字 👩‍👩‍👧 e\u0301 \u202eRTL مرحبا\u200b `x` | a | b |\n|-|\n" + "y" * 300


class Stage(App[None]):
    """An app with one conversation that records its requests."""

    def __init__(self, *items, before=None) -> None:
        super().__init__()
        self.conversation = Conversation(clock=lambda: 10.0)
        self.given = view(items, before)
        self.posted: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.conversation

    def on_mount(self) -> None:
        self.conversation.show(self.given)
        self.conversation.focus()
        self.conversation.lay_out_now()

    def on_conversation_older_wanted(self, event: Conversation.OlderWanted) -> None:
        self.posted.append(event)

    on_conversation_newer_wanted = on_conversation_older_wanted
    on_conversation_forgotten = on_conversation_older_wanted
    on_conversation_item_chosen = on_conversation_older_wanted

    @property
    def lines(self) -> list[str]:
        """Return the content of the screen."""
        self.conversation.lay_out_now()
        height = self.conversation.size.height
        return [
            "".join(part.text for part in self.conversation.render_line(y)).rstrip() for y in range(height)
        ]


async def until(pilot, holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not holds():
            await pilot.pause()


async def test_it_draws_by_itself_while_text_arrives():
    stage = Stage()
    async with stage.run_test(size=(40, 6)) as pilot:
        stage.conversation.apply([Put(answer(1, "", is_live=True)), Flash("ignored")])
        for word in ("Some ", "**bold**", " words"):
            stage.conversation.apply([Grow("k1", word)])

        first = lambda: "".join(part.text for part in stage.conversation.render_line(0)).strip()  # noqa: E731
        await until(pilot, lambda: first() == "Some bold words")


async def test_the_end_stays_in_view_until_the_user_scrolls_up():
    stage = Stage(*(said(seq) for seq in range(1, 21)))
    async with stage.run_test(size=(30, 5)) as pilot:
        assert stage.lines == [" ▌ said 18", "", " ▌ said 19", "", " ▌ said 20"]

        await pilot.press("up", "up")
        stage.conversation.apply([Put(said(21)), Put(answer(22)), Put(said(21, "changed"))])
        assert stage.lines == [" ▌ said 17", "", " ▌ said 18", "", " ▌ said 19           ↓ 2 new"]
        assert (stage.conversation.unseen, stage.conversation.is_following) == (2, False)

        await pilot.press("end")
        assert stage.lines == [" ▌ said 20", "", " ▌ changed", "", " answer 22"]
        assert (stage.conversation.unseen, stage.conversation.is_following) == (0, True)


async def test_the_hint_is_a_way_to_the_end():
    stage = Stage(*(said(seq) for seq in range(1, 21)))
    async with stage.run_test(size=(30, 5)) as pilot:
        await pilot.press("home")
        stage.conversation.apply([Put(said(21))])
        assert stage.lines[-1].endswith("↓ 1 new")

        await pilot.click(Conversation, offset=(26, 4))

        assert stage.lines[-1] == " ▌ said 21"


async def test_older_items_are_asked_for_once_and_do_not_move_the_view():
    stage = Stage(*(said(seq) for seq in range(31, 61)), before=30)
    async with stage.run_test(size=(30, 5)) as pilot:
        assert stage.posted == []
        await pilot.press("home", "down")
        seen = stage.lines
        assert stage.posted == [Conversation.OlderWanted(30)]

        stage.conversation.prepend(page(1, 30))
        assert stage.lines == seen
        await pilot.press("up", "up", "up")
        assert stage.lines[0] == " ▌ said 30"


async def test_a_page_that_could_not_be_had_is_asked_for_again():
    stage = Stage(said(5), before=4)
    async with stage.run_test(size=(30, 5)) as pilot:
        stage.conversation.load_failed()
        stage.conversation.lay_out_now()
        await pilot.pause()

        assert stage.posted == [Conversation.OlderWanted(4)] * 2


async def test_rows_are_bounded_both_ways():
    stage = Stage(*(said(seq) for seq in range(1001, 1101)), before=1000)
    async with stage.run_test(size=(30, 5)) as pilot:
        for last in range(1000, 0, -200):
            await pilot.press("home")
            await pilot.pause()
            stage.conversation.prepend(page(last - 199, last))
            stage.conversation.lay_out_now()
        await pilot.press("home")
        assert stage.lines[0] == " ▌ said 1"

        await pilot.press("end")
        await pilot.pause()
        assert stage.posted[-1] == Conversation.NewerWanted(None)
        stage.conversation.append(stage.given)
        assert stage.lines[-1] == " ▌ said 1100"


async def test_going_down_again_brings_the_pages_back_one_by_one():
    stage = Stage(*(said(seq) for seq in range(1001, 1101)), before=1000)
    async with stage.run_test(size=(30, 20)) as pilot:
        for first in (651, 301):
            await pilot.press("home")
            stage.conversation.prepend(page(first, first + 349))
            stage.conversation.lay_out_now()
        await pilot.press("home")
        asked = []
        for _ in range(4):
            stage.conversation.scroll_to(y=stage.conversation.max_scroll_y, animate=False)
            await pilot.pause()
            wanted = [event.before for event in stage.posted if isinstance(event, Conversation.NewerWanted)]
            for before in wanted[len(asked) :]:
                seen = stage.lines
                stage.conversation.append(stage.given if before is None else page(651, before))
                assert stage.lines[:-1] == seen[:-1]
            asked = wanted

        assert (asked, stage.lines[-1]) == ([1000, None], " ▌ said 1100")


async def test_while_the_end_is_followed_old_items_are_let_go_of():
    stage = Stage()
    async with stage.run_test(size=(30, 5)) as pilot:
        stage.conversation.apply([Put(said(seq)) for seq in range(1, MAX_ROWS + 2)])
        stage.conversation.lay_out_now()
        await pilot.pause()

        gone = MAX_ROWS + 1 - KEPT_ROWS
        assert stage.posted == [Conversation.Forgotten(tuple(f"k{seq}" for seq in range(1, gone + 1)))]
        await pilot.press("home")
        await pilot.pause()
        assert stage.posted[1:] == [Conversation.OlderWanted(gone)]


async def test_the_cursor_opens_copies_and_asks_for_more():
    change = call(3, tool="edit_file", diff=DIFF, child=SessionId("kid"))
    stage = Stage(said(1), Thought(key="t", seq=2, at=2, text="hm, *well*"), change)
    async with stage.run_test(size=(40, 20)) as pilot:
        assert stage.conversation.selected is None
        await pilot.press("k", "d", "s")
        await pilot.pause()
        assert stage.posted == [
            Conversation.ItemChosen(change, "diff"),
            Conversation.ItemChosen(change, "child"),
        ]

        await pilot.press("k", "enter", "c")
        assert stage.lines[2:5] == ["┃▾ thought · 2 words", "┃│ hm, well", " ✓ edit_file ls · sub-agent kid"]
        assert stage.clipboard == "hm, *well*"

        stage.conversation.apply([Drop("t")])
        assert stage.conversation.selected is None


async def test_a_click_folds_and_everything_can_be_opened_at_once():
    stage = Stage(call(1, output="\n".join(map(str, range(9)))))
    async with stage.run_test(size=(30, 12)) as pilot:
        assert stage.lines[5] == "   ▸ 5 more lines"
        await pilot.click(Conversation, offset=(5, 5))
        assert stage.lines[5:11] == ["┃  │ 4", "┃  │ 5", "┃  │ 6", "┃  │ 7", "┃  │ 8", "┃  ▾ fold"]
        await pilot.press("o", "o")
        assert stage.lines[5] == "┃  ▸ 5 more lines"


async def test_what_is_opened_at_the_end_stays_where_it_is():
    stage = Stage(*(said(seq) for seq in range(1, 9)), call(9, output="\n".join(map(str, range(99)))))
    async with stage.run_test(size=(30, 8)) as pilot:
        seen = stage.lines[:6]
        await pilot.press("k", "enter")
        assert [line.lstrip("┃ ") for line in stage.lines[:6]] == [line.lstrip("┃ ") for line in seen]
        assert not stage.conversation.is_following

        await pilot.press("enter")
        assert stage.conversation.is_following


async def test_what_is_selected_is_copied_as_it_was_written():
    stage = Stage(answer(1, "one two three four\n\n```\nlong_code_line\n```"))
    async with stage.run_test(size=(14, 10)) as pilot:
        assert stage.lines[:5] == [" one two", " three four", "", " │ long_code", " │↪_line"]
        await pilot.mouse_down(Conversation, offset=(5, 0))
        await pilot.hover(Conversation, offset=(8, 4))
        await pilot.mouse_up(Conversation, offset=(8, 4))

        assert stage.screen.get_selected_text() == "two three four\n\nlong_code_line"


async def test_words_are_found_also_in_what_is_folded():
    hidden = "\n".join([*map(str, range(30)), "needle"])
    stage = Stage(said(1, "a Needle here"), *(said(seq) for seq in range(2, 20)), call(20, output=hidden))
    async with stage.run_test(size=(30, 6)) as pilot:
        assert stage.conversation.find("needle") == 2
        assert any("needle" in line for line in stage.lines)
        await pilot.press("n")
        assert stage.lines[0] == "┃▌ a Needle here"
        await pilot.press("N")
        assert any("needle" in line for line in stage.lines)
        assert (stage.conversation.find("nothing"), stage.conversation.find("")) == (0, 0)


async def test_any_size_is_drawn():
    items = [said(1, HOSTILE), answer(2, HOSTILE * 3), call(3, brief=HOSTILE, output=HOSTILE, diff=DIFF)]
    stage = Stage(*items, Thought(key="t", seq=4, at=4, text=HOSTILE))
    async with stage.run_test(size=(80, 24)) as pilot:
        stage.conversation.action_fold_all()
        for number, width in enumerate((*range(1, 14), 79, 200)):
            await pilot.resize_terminal(width, (9, 1, 0)[number % 3])
            assert not {"\x1b", "\u202e"} & set("".join(stage.lines))


@pytest.mark.parametrize("theme", THEMES)
async def test_every_theme_has_the_colours_of_every_ink(theme):
    stage = Stage(call(1, state="failed", output="boom"))
    async with stage.run_test(size=(20, 4)) as pilot:
        stage.register_theme(THEMES[theme])
        stage.theme = theme
        await pilot.pause()
        assert stage.lines[:2] == [" ✗ bash ls", "   │ boom"]

        mark = next(part for part in stage.conversation.render_line(0) if part.text.startswith("✗"))
        assert mark.style is not None
        assert mark.style.color is not None
        assert mark.style.color.triplet is not None
        assert mark.style.color.triplet.hex == stage.theme_variables["error"].lower()
