"""The prompt editor: multiple lines, completion, prompt history, and placeholders for long pastes."""

import asyncio
import re
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widgets import TextArea

from bridle.core.errors import BridleError
from bridle.surfaces.shared.skill_prompt import mention_images
from bridle.surfaces.shared.terminal import visible
from bridle.surfaces.tui.completion import Completer, Completion, Fragment, fragment_at
from bridle.surfaces.tui.keys import KEYS, Changed, bindings, keys_of
from bridle.surfaces.tui.prompt_history import History

if TYPE_CHECKING:
    from bridle.surfaces.tui.prompt_widgets import Completions

# ---------------------------------------------------------------------------- pastes
# Long pasted texts: the prompt shows `[paste #1: 120 lines]`, and the text itself is sent.


MAX_LINES = 10
MAX_CHARS = 2_000

_MARK = re.compile(r"\[paste #(\d+): \d[\d,]* (?:lines?|characters)\]")


class Pastes:
    """Maps placeholders to pasted texts; numbers continue from prompt to prompt."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def add(self, text: str) -> str:
        """Return a placeholder for a long text, or the text itself."""
        lines = text.count("\n") + 1
        if lines <= MAX_LINES and len(text) <= MAX_CHARS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        mark = f"[paste #{len(self._texts) + 1}: {size}]"
        self._texts[mark] = text
        return mark

    def expand(self, prompt: str) -> str:
        """Replace placeholders by their texts; keep a placeholder that the user typed."""
        return _MARK.sub(lambda found: self._texts.get(found[0], found[0]), prompt)


# ---------------------------------------------------------------------------- editor


How = Literal["send", "steer"]

_TAKEN = {key for row in KEYS if row.scope in ("app", "prompt") for key in row.keys}


def _of_text_area() -> list[Binding]:
    """Return the text area's bindings whose keys are not used here."""
    return [one for one in Binding.make_bindings(TextArea.BINDINGS) if one.key not in _TAKEN]


class PromptEditor(TextArea, inherit_bindings=False):
    """The multi-line editor for prompts."""

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
        """The user sends a prompt."""

        def __init__(self, typed: str, text: str, how: How) -> None:
            super().__init__()
            self.typed = typed
            """The editor's content, with placeholders for long pastes."""
            self.text = text
            self.how = how

    class Cancelled(Message):
        """The user pressed the cancel key while no completions were open."""

    class Resumed(Message):
        """The user pressed the send key in an empty editor."""

    class EditWanted(Message):
        """The user wants to edit the prompt in $EDITOR."""

    def __init__(self, completer: Completer, history: History, changed: Changed, text: str = "") -> None:
        """Start with `text`; `changed` are the key bindings from the settings."""
        super().__init__(text, id="prompt", highlight_cursor_line=False, show_line_numbers=False)
        self.cwd = ""
        """The folder whose files and skills are completed."""
        self._completer = completer
        self.prompts = history
        self.completions: Completions | None = None
        """The completion list; None until after the first frame."""
        self._pastes = Pastes()
        self._keys = {key for row in KEYS if row.scope == "prompt" for key in keys_of(row.name, changed)}
        self._found: list[Completion] = []
        self._fragment: Fragment | None = None
        self._searching: asyncio.Task[None] | None = None

    def on_mount(self) -> None:
        """Move the cursor to the end of the initial text."""
        self.move_cursor(self.document.end)

    # ------------------------------------------------------------------ text

    @property
    def is_empty(self) -> bool:
        """True if the editor contains only whitespace."""
        return not self.text.strip()

    def put(self, text: str) -> None:
        """Replace the content and move the cursor to the end."""
        self.load_text(text)
        self.move_cursor(self.document.end)
        self._close()

    def expand_pastes(self, typed: str) -> str:
        """Replace paste placeholders by the pasted texts."""
        return self._pastes.expand(typed)

    def render_line(self, y: int) -> Strip:
        """Draw a line; return an empty strip while the editor has zero width."""
        return super().render_line(y) if self.content_size.width > 0 else Strip.blank(0)

    def on_key(self, event: events.Key) -> None:
        """Keep the text area from inserting a bound key, so that the binding handles it."""
        if event.key in self._keys:
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Insert mentions of dropped images, or a placeholder for a long text; show control characters."""
        event.prevent_default()
        event.stop()
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        shown = mention_images(text) or self._pastes.add(text)
        if shown == text:
            shown = visible(text)
        self.insert(shown)

    def on_text_area_changed(self) -> None:
        """Look for completions at the cursor."""
        self._search()

    # ------------------------------------------------------------------ completion

    def _search(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column][-300:] if self.document.line_count > row else ""
        offset = max(0, column - 300)
        fragment = fragment_at(before, is_first_line=row == 0 and not offset)
        if self._searching is not None:
            self._searching.cancel()
        if fragment is None:
            self._close()
            return
        self._fragment = Fragment(fragment.kind, fragment.start + offset, fragment.text)
        self._searching = asyncio.create_task(self._find(self._fragment))

    async def _find(self, fragment: Fragment) -> None:
        try:
            found = await self._completer.find(fragment, self.cwd)
        except BridleError:  # completion is optional
            found = []
        if [one.text for one in found] == [f"{'/@'[fragment.kind == 'file']}{fragment.text}"]:
            found = []  # it is already typed in full
        if self.completions is not None:
            self._found = found
            self.completions.offer(found)

    def _close(self) -> None:
        if self._searching is not None:
            self._searching.cancel()
            self._searching = None
        self._found = []
        self._fragment = None
        if self.completions is not None:
            self.completions.offer([])

    def _take(self) -> bool:
        """Insert the highlighted completion; return False if there is none."""
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
        """Send the prompt; or accept the completion, or start a new line after a trailing backslash."""
        if self._found and self._fragment is not None and not self._stands_there():
            self._take()
            return
        if self._ends_with_backslash():
            row, column = self.cursor_location
            self.replace("\n", (row, column - 1), (row, column))
            return
        self._post("send")

    def action_steer(self) -> None:
        """Send the prompt into the active run."""
        self._post("steer")

    def _post(self, how: How) -> None:
        typed = self.text
        self._close()
        if typed.strip():
            self.post_message(self.Sent(typed, self.expand_pastes(typed), how))
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
        """Insert a line break."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Accept the completion, or move the focus to the conversation."""
        if not self._take():
            self.screen.focus_next()

    def action_cancel(self) -> None:
        """Close the completions; if none are open, post `Cancelled`."""
        if self._found:
            self._close()
        else:
            self.post_message(self.Cancelled())

    def action_earlier(self) -> None:
        """Move up: in the completions, in the text, or to an earlier prompt."""
        if self._found and self.completions is not None:
            self.completions.action_cursor_up()
        elif not self.cursor_at_first_line:
            self.action_cursor_up()
        elif (earlier := self.prompts.earlier(self.text)) is not None:
            self.put(earlier)

    def action_later(self) -> None:
        """Move down: in the completions, in the text, or to a later prompt."""
        if self._found and self.completions is not None:
            self.completions.action_cursor_down()
        elif not self.cursor_at_last_line:
            self.action_cursor_down()
        elif (later := self.prompts.later()) is not None:
            self.put(later)

    def action_edit(self) -> None:
        """Edit the prompt in $EDITOR."""
        self.post_message(self.EditWanted())
