"""The prompt editor: several lines, completion, prompts of before, long pastes as marks."""

import asyncio
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from bridle.core.errors import BridleError
from bridle.surfaces.terminal import visible
from bridle.surfaces.tui.completing import Completer, Completion, Fragment, fragment_at
from bridle.surfaces.tui.keeping import History
from bridle.surfaces.tui.keys import KEYS, Changed, bindings, keys_of
from bridle.surfaces.tui.pastes import Pastes

if TYPE_CHECKING:
    from bridle.surfaces.tui.completions import Completions

How = Literal["send", "steer"]

_TAKEN = {key for row in KEYS if row.scope in ("app", "prompt") for key in row.keys}


def _of_text_area() -> list[Binding]:
    """Return the bindings of a text area whose keys mean nothing else here."""
    return [one for one in Binding.make_bindings(TextArea.BINDINGS) if one.key not in _TAKEN]


class PromptEditor(TextArea, inherit_bindings=False):
    """Where prompts are written."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt"), *_of_text_area()]

    DEFAULT_CSS = """
    PromptEditor {
        height: auto; min-height: 1; max-height: 33h; padding: 0 1; background: $surface;
        border: none; border-left: outer $border; scrollbar-size-vertical: 1;
        &:focus { border: none; border-left: outer $primary; }
        & .text-area--placeholder { color: $text-muted; }
    }
    """

    class Sent(Message):
        """The user wants a prompt to be taken."""

        def __init__(self, typed: str, text: str, how: How) -> None:
            super().__init__()
            self.typed = typed
            """As it stood in the editor, with marks for long texts."""
            self.text = text
            self.how = how

    class Cancelled(Message):
        """The user pressed the key that cancels, and there was nothing to close."""

    class Resumed(Message):
        """The user pressed the key that sends, and nothing stands there."""

    class EditWanted(Message):
        """The user wants to write in an editor of their own."""

    def __init__(self, completer: Completer, history: History, changed: Changed, text: str = "") -> None:
        """Begin with a text; `changed` are the keys of the settings."""
        super().__init__(text, id="prompt", highlight_cursor_line=False, show_line_numbers=False)
        self.cwd = ""
        """The folder whose files and skills complete."""
        self._completer = completer
        self.prompts = history
        self.completions: Completions | None = None
        """Where they are shown; they come after the first frame."""
        self._pastes = Pastes()
        self._keys = {key for row in KEYS if row.scope == "prompt" for key in keys_of(row.name, changed)}
        self._found: list[Completion] = []
        self._fragment: Fragment | None = None
        self._looking: asyncio.Task[None] | None = None

    def on_mount(self) -> None:
        """Go on behind what stands there."""
        self.move_cursor(self.document.end)

    # ------------------------------------------------------------------ the text

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing stands there."""
        return not self.text.strip()

    def put(self, text: str) -> None:
        """Put a text in the place of what stands there, the cursor at its end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._close()

    def expanded(self, typed: str) -> str:
        """Return a text with the long pastes in it."""
        return self._pastes.expand(typed)

    def render_line(self, y: int) -> Strip:
        """Draw a line; without any width there is none."""
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(0)

    def on_key(self, event: events.Key) -> None:
        """Keep the text area from writing what is a key of ours: it goes on to the bindings."""
        if event.key in self._keys:
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Show a long text as a mark; control characters of a short one are made visible."""
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        shown = self._pastes.add(text)
        if shown == text:
            shown = visible(text)
        self.insert(shown)

    def on_text_area_changed(self) -> None:
        """Look for completions of what stands before the cursor."""
        self._look()

    # ------------------------------------------------------------------ completion

    def _look(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column][-300:] if self.document.line_count > row else ""
        offset = max(0, column - 300)
        fragment = fragment_at(before, is_first_line=row == 0 and not offset)
        if self._looking is not None:
            self._looking.cancel()
        if fragment is None:
            self._close()
            return
        self._fragment = Fragment(fragment.kind, fragment.start + offset, fragment.text)
        self._looking = asyncio.create_task(self._find(self._fragment))

    async def _find(self, fragment: Fragment) -> None:
        try:
            found = await self._completer.find(fragment, self.cwd)
        except BridleError:  # a convenience: without it one types on
            found = []
        if [one.text for one in found] == [f"{'/@'[fragment.kind == 'file']}{fragment.text}"]:
            found = []  # it stands there already
        if self.completions is not None:
            self._found = found
            self.completions.offer(found)

    def _close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self._found = []
        self._fragment = None
        if self.completions is not None:
            self.completions.offer([])

    def _take(self) -> bool:
        """Write the completion that is marked; tell whether there was one."""
        if not self._found or self._fragment is None:
            return False
        chosen = self._chosen
        row, column = self.cursor_location
        goes_on = chosen.text.endswith("/")
        self.replace(chosen.text + ("" if goes_on else " "), (row, self._fragment.start), (row, column))
        if not goes_on:
            self._close()
        return True

    # ------------------------------------------------------------------ actions

    def action_send(self) -> None:
        """Send, or take the completion, or begin a new line after a backslash."""
        if self._found and self._fragment is not None and not self._stands_there():
            self._take()
            return
        if self._ends_with_backslash():
            row, column = self.cursor_location
            self.replace("\n", (row, column - 1), (row, column))
            return
        self._post("send")

    def action_steer(self) -> None:
        """Send into the active run."""
        self._post("steer")

    def _post(self, how: How) -> None:
        typed = self.text
        self._close()
        if typed.strip():
            self.post_message(self.Sent(typed, self.expanded(typed), how))
        elif how == "send":
            self.post_message(self.Resumed())

    def _stands_there(self) -> bool:
        assert self._fragment is not None
        sign = "@" if self._fragment.kind == "file" else "/"
        return self._chosen.text == sign + self._fragment.text

    @property
    def _chosen(self) -> Completion:
        assert self.completions is not None
        return self._found[self.completions.highlighted or 0]

    def _ends_with_backslash(self) -> bool:
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        return (len(line) - len(line.rstrip("\\"))) % 2 == 1 and column == len(self.document.get_line(row))

    def action_new_line(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Take the completion, or go to the conversation."""
        if not self._take():
            self.screen.focus_next()

    def action_cancel(self) -> None:
        """Close the completions, or say that the key was pressed."""
        if self._found:
            self._close()
        else:
            self.post_message(self.Cancelled())

    def action_earlier(self) -> None:
        """Go up: in the completions, in the text, or to an earlier prompt."""
        if self._found and self.completions is not None:
            self.completions.action_cursor_up()
        elif not self.cursor_at_first_line:
            self.action_cursor_up()
        elif (earlier := self.prompts.earlier(self.text)) is not None:
            self.put(earlier)

    def action_later(self) -> None:
        """Go down: in the completions, in the text, or to a later prompt."""
        if self._found and self.completions is not None:
            self.completions.action_cursor_down()
        elif not self.cursor_at_last_line:
            self.action_cursor_down()
        elif (later := self.prompts.later()) is not None:
            self.put(later)

    def action_edit(self) -> None:
        """Write the prompt elsewhere."""
        self.post_message(self.EditWanted())
