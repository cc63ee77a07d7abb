"""Handing what was typed to a session: as a prompt, into the active run, or as a command of the shell."""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import MAX_PROMPT_BYTES, Command, Prompt, Steer
from bridle.core.session_api import SessionApi
from bridle.core.summary import title_from
from bridle.surfaces.shell_line import command_in, shell_options
from bridle.surfaces.tui.front import Choice, Front, Place


class Letter(Struct, frozen=True):
    """What was typed, until it is taken."""

    typed: str
    text: str
    steers: bool
    key: str
    """A letter that is sent again is not taken twice."""
    place: Place
    """Where it was written; it goes there, whatever is in front by then."""
    cwd: str
    choice: Choice


def new_letter(typed: str, text: str, front: Front, *, steers: bool) -> Letter:
    """Make a letter to what is in front, with a key of its own."""
    steers = steers and front.is_active
    return Letter(typed, text, steers, uuid.uuid4().hex, front.place, front.cwd, front.choice)


async def send(
    letter: Letter,
    api: SessionApi,
    environ: Mapping[str, str],
    began: Callable[[SessionId, Place], None],
) -> None:
    """Hand a letter to its session, which begins with it if it is not there yet.

    Raises BridleError when it was not taken; then it can be sent again.
    """
    session, cwd, choice, steers = letter.place.session, letter.cwd, letter.choice, letter.steers
    text = letter.text.strip("\n")
    if len(text.encode(errors="replace")) > MAX_PROMPT_BYTES:
        raise UsageError(f"the prompt is longer than {MAX_PROMPT_BYTES // 1024 // 1024} MiB")
    options, title = choice.options(), ""
    if line := command_in(text):
        title = title_from(text)
        text, steers = line, False
        options = shell_options(options)
    elif text.startswith("/"):
        from bridle.surfaces.skill_prompt import expand_in

        whole = await asyncio.to_thread(expand_in, text, cwd, environ)
        title = title_from(text) if whole != text else ""
        text = whole
    if session is None:
        session = await api.create(cwd=cwd, agent=choice.agent or "", title=title)
        began(session, letter.place)
    message = user_message(text)
    command: Command = Prompt(message, options, key=letter.key)
    if steers:
        command = Steer(message, letter.key)
    await api.submit(session, command)


def joined(texts: Iterable[str]) -> str:
    """Put texts that were typed one below the other."""
    return "\n".join(text for text in texts if text.strip())
