"""Widgets around the prompt: the list of completions, and the search line; loaded after the first frame."""

from collections.abc import Sequence

from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.tui.completion import Completion
from bridle.surfaces.tui.conversation.view import Conversation
from bridle.surfaces.tui.panels.styles import styled


class Completions(OptionList, can_focus=False):
    """A list of completions above the prompt; the prompt keeps the focus and handles the keys."""

    DEFAULT_CSS = """
    Completions {
        display: none; height: auto; max-height: 8; border: none; padding: 0 1; background: $panel;
        scrollbar-size-vertical: 1;
    }
    Completions.-open { display: block; }
    """

    def offer(self, found: Sequence[Completion]) -> None:
        """Show these completions with the first one highlighted; an empty list closes it."""
        self.clear_options()
        self.add_options([Option(_row(one)) for one in found])
        self.set_class(bool(found), "-open")
        if found:
            self.highlighted = 0


def _row(one: Completion) -> Content:
    return styled(("name", one_line(one.text)), ("detail", f"  {one_line(one.help)}" if one.help else ""))


# ---------------------------------------------------------------------------- search line


class FindBar(Input):
    """A search line above the prompt, visible only during a search."""

    DEFAULT_CSS = """
    FindBar {
        display: none; height: 1; border: none; padding: 0 1; background: $panel;
        &:focus { border: none; }
        &.-open { display: block; }
    }
    """

    def __init__(self, conversation: Conversation, editor: Widget) -> None:
        super().__init__(placeholder="search the conversation · Enter next · Esc close")
        self._conversation = conversation
        self._editor = editor

    def ask(self) -> None:
        """Open the search line and focus it."""
        self.add_class("-open")
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Search; close and focus the conversation if there is a match."""
        event.stop()
        if not self._conversation.find(event.value):
            self.notify("nothing found", timeout=2)
            return
        self.remove_class("-open")
        self._conversation.focus()

    def key_escape(self) -> None:
        """Close the search line."""
        self.remove_class("-open")
        self._editor.focus()
