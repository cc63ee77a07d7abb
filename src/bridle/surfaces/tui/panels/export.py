"""Exports a session to a file."""

import asyncio
import os
from pathlib import Path

from bridle.core.ids import SessionId
from bridle.surfaces.shared.export import Format
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.tui.panels.dialogs import TextDialog
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.notifications import notify, report_errors

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
