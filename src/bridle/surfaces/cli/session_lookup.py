"""Resolve what a user names: a session by its id or folder, or the directory to work in and its settings."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from bridle.config.settings import Settings, load_settings
from bridle.core.errors import SessionNotFound, UsageError
from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.surfaces.shared.terminal import Console, one_line

MAX_LISTED = 10


def find_session(sessions: Sequence[SessionSummary], wanted: str) -> SessionSummary:
    """Return the session whose id is or uniquely starts with `wanted`; raises SessionNotFound, UsageError."""
    found = find_id({session.id: session.title for session in sessions}, wanted)
    return next(session for session in sessions if session.id == found)


def find_id(titles: Mapping[SessionId, str], wanted: str) -> SessionId:
    """Return the id that is or starts with `wanted`; raises SessionNotFound, or UsageError if several do."""
    matches = [session for session in titles if session.startswith(wanted)] if wanted else []
    if wanted in matches:
        return SessionId(wanted)
    if not matches:
        raise SessionNotFound(f'no session "{wanted}"', hint="bridle session list --all")
    if len(matches) > 1:
        listed = [f"  {session}  {one_line(titles[session])}".rstrip() for session in matches[:MAX_LISTED]]
        more = [f"  and {len(matches) - MAX_LISTED} more"] if len(matches) > MAX_LISTED else []
        raise UsageError(
            "\n".join([f'"{wanted}" could mean {len(matches)} sessions:', *listed, *more]),
            hint="type more of the id",
        )
    return matches[0]


def find_newest_session(sessions: Sequence[SessionSummary], cwd: str) -> SessionSummary:
    """Return the most recently used session of a directory, no sub-agents; raises SessionNotFound."""
    here = [
        session
        for session in sessions
        if session.cwd == cwd and not session.archived and not session.sub_agent
    ]
    if not here:
        raise SessionNotFound(f"no session was started in {cwd}", hint="bridle session list")
    return max(here, key=lambda session: session.updated_at)


def resolve_directory(wanted: str | None = None) -> str:
    """Return the directory to work in, with links resolved; raises UsageError if it cannot be used."""
    try:
        path = os.path.realpath(wanted) if wanted is not None else os.getcwd()
    except FileNotFoundError:
        raise UsageError(
            "the current directory no longer exists", hint="change to another directory"
        ) from None
    if not os.path.isdir(path):
        raise UsageError(f"{wanted} is not a directory")
    try:
        path.encode()
    except UnicodeEncodeError:  # a session that works there could not be stored
        raise UsageError("the path of the directory is not UTF-8", hint="give it another name") from None
    return path


def load_settings_here(console: Console) -> Settings:
    """Load the settings of the current directory; raises UsageError, ConfigError."""
    return load_settings(console.environ, Path(resolve_directory()))
