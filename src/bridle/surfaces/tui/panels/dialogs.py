"""Dialogs that ask for a text, a confirmation, or the file of an export."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TextArea

from bridle.core.ids import SessionId
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.tui.keys import bindings
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import shorten_line
from bridle.surfaces.tui.panels.notifications import format_footer, notify, report_errors
from bridle.surfaces.tui.panels.styles import styled

MAX_CHARS = 100_000
CONSENT = ("y", "yes")
FOOT = (("save", "done"), ("another_line", "new line"), ("dismiss", "cancel"))

Check = Callable[[str], str]
"""Returns what is wrong with a text; empty if it is valid."""


def accept_any(text: str) -> str:
    """Accept any text."""
    return ""


class Dialog(ModalScreen[str | None]):
    """A centered window that asks for a text; its result is None if the user cancels."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 80%; max-width: 100; height: auto; max-height: 100%;
            border: round $border; background: $surface; padding: 0 1;
        }
        Input { background: $boost; }
        TextArea { height: auto; max-height: 60vh; border: none; padding: 0; }
        .wrong { color: $error; height: auto; }
        .words { height: auto; max-height: 50vh; }
        .foot { color: $text-muted; height: auto; }
    }
    """

    def action_dismiss(self, result: str | None = None) -> None:  # type: ignore[override]  # synchronous
        """Cancel the dialog."""
        self.dismiss(None)


class TextDialog(Dialog):
    """Asks for a text on one line."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("dialog") if one.id == "dismiss"]

    def __init__(
        self, words: str, value: str = "", *, check: Check = accept_any, placeholder: str = ""
    ) -> None:
        """Ask with `words`; `check` returns why a text is invalid."""
        super().__init__()
        self._words = words
        self._value = value
        self._check = check
        self._placeholder = placeholder

    def compose(self) -> ComposeResult:
        """Place the words above the input."""
        with Vertical():
            yield Static(styled(shorten_line(self._words)), classes="words")
            yield Input(
                self._value, self._placeholder, max_length=MAX_CHARS, select_on_focus=False, compact=True
            )
            yield Static("", classes="wrong", markup=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Clear the error."""
        self.query_one(".wrong", Static).update("")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Accept the text, or show why it is invalid."""
        event.stop()
        if wrong := self._check(event.value):
            self.query_one(".wrong", Static).update(styled(wrong))
        else:
            self.dismiss(self.taken(event.value))

    def taken(self, text: str) -> str | None:
        """Return the dialog's result for an accepted text."""
        return text


class Confirm(TextDialog):
    """Asks for a confirmation: only a typed `y` or `yes` confirms, Enter alone does not."""

    def __init__(self, words: str) -> None:
        super().__init__(f"{words}\ntype y and press Enter to confirm, or Esc to cancel")

    def taken(self, text: str) -> str | None:
        """Return the text if it confirms, else None."""
        return text if text.strip().lower() in CONSENT else None


class LongTextDialog(Dialog):
    """Asks for a text of several lines."""

    BINDINGS: ClassVar[list[BindingType]] = [
        one if one.id == "dismiss" else replace(one, priority=True)  # before the text area handles Enter
        for one in bindings("dialog")
    ]

    def __init__(self, host: PanelHost, words: str, value: str = "", *, check: Check = accept_any) -> None:
        """Ask with `words`; `check` returns why a text is invalid."""
        super().__init__()
        self._host = host
        self._words = words
        self._value = value
        self._check = check

    def compose(self) -> ComposeResult:
        """Place the words above the text area."""
        with Vertical():
            yield Static(styled(shorten_line(self._words)), classes="words")
            yield TextArea(self._value, soft_wrap=True, show_line_numbers=False, compact=True)
            yield Static("", classes="wrong", markup=False)
            yield Static(format_footer(self._host, FOOT), classes="foot")

    def on_mount(self) -> None:
        """Focus the text area, with the cursor at the end."""
        field = self.query_one(TextArea)
        field.focus()
        field.move_cursor(field.document.end)

    def action_save(self) -> None:
        """Accept the text, or show why it is invalid."""
        text = self.query_one(TextArea).text[:MAX_CHARS]
        if wrong := self._check(text):
            self.query_one(".wrong", Static).update(styled(wrong))
        else:
            self.dismiss(text)

    def action_another_line(self) -> None:
        """Insert a line break."""
        self.query_one(TextArea).insert("\n")


# ---------------------------------------------------------------------------- session export


FORMS: dict[str, Format] = {".md": "md", ".json": "json", ".html": "html"}


def export_session(host: PanelHost, session: SessionId) -> None:
    """Ask for a path and export the session there; the suffix selects the format."""

    def named(path: str | None) -> None:
        if path is not None:
            target = Path(host.cwd, Path(path.strip()).expanduser())
            host.app.run_worker(_export(host, session, target))

    words = "export the session to this file (.md, .json or .html)"
    host.app.push_screen(TextDialog(words, f"session-{short_id(session)}.md", check=check_path), named)


def check_path(path: str) -> str:
    """Return why the path is invalid; empty if it is valid."""
    return "" if Path(path.strip()).suffix in FORMS else "the name must end in .md, .json or .html"


async def _export(host: PanelHost, session: SessionId, target: Path) -> None:
    async with report_errors(host.app):
        text = await host.views.export(session, FORMS[target.suffix])
        try:
            await asyncio.to_thread(_write, target, text)
        except OSError as error:
            notify(host.app, f"{target}: {error.strerror or error}", failed=True)
        else:
            notify(host.app, f"written to {target}")


def _write(target: Path, text: str) -> None:
    """Write a new file that only its owner can read; raises OSError, also if the file exists."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
