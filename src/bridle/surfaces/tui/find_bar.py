"""The search input for the conversation."""

from textual.widgets import Input

from bridle.surfaces.tui.conversation.view import Conversation
from bridle.surfaces.tui.editor import PromptEditor


class FindBar(Input):
    """A search line above the prompt, visible only during a search."""

    DEFAULT_CSS = """
    FindBar {
        display: none; height: 1; border: none; padding: 0 1; background: $panel;
        &:focus { border: none; }
        &.-open { display: block; }
    }
    """

    def __init__(self, conversation: Conversation, editor: PromptEditor) -> None:
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
