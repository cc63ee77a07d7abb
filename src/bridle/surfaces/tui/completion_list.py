"""The list of completions above the prompt."""

from collections.abc import Sequence

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.tui.completion import Completion
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
