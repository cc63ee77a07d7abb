"""Sends typed text to a session: as a prompt, as steering of the active run, or as a shell command."""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Media, Message, Text
from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import MAX_PROMPT_BYTES, Command, Prompt, RunOptions, Steer
from bridle.core.session_api import SessionApi
from bridle.core.summary import title_from
from bridle.surfaces.tui.open_sessions import OpenSessions, PromptOptions, PromptTarget

# ---------------------------------------------------------------------------- shell prompt
# `!command`: a shell command typed by a person, run in the session without a model.


SIGN = "!"
MODEL = f"direct/{SHELL_TOOL}"
"""No model: the prompt is the command."""


def command_in(text: str) -> str:
    """Return the command of a line that starts with `!`; empty for any other line."""
    return text.removeprefix(SIGN).strip() if text.startswith(SIGN) else ""


def shell_options(options: RunOptions) -> RunOptions:
    """Return the options of a typed command: it needs no approval, but deny rules apply."""
    return replace(options, model=MODEL, allow=(*options.allow, SHELL_TOOL))


# ---------------------------------------------------------------------------- prompt sender


class OutgoingPrompt(Struct, frozen=True):
    """A typed prompt until a session accepts it."""

    typed: str
    text: str
    steers: bool
    key: str
    """The idempotency key: a letter that is sent again is not accepted twice."""
    place: PromptTarget
    """Where it was typed; it goes there, whatever is current by then."""
    cwd: str
    choice: PromptOptions


def create_outgoing_prompt(typed: str, text: str, front: OpenSessions, *, steers: bool) -> OutgoingPrompt:
    """Create a letter to the current session, with a new key."""
    steers = steers and front.is_active
    return OutgoingPrompt(typed, text, steers, uuid.uuid4().hex, front.place, front.cwd, front.choice)


async def send(
    letter: OutgoingPrompt,
    api: SessionApi,
    environ: Mapping[str, str],
    began: Callable[[SessionId, PromptTarget], None],
) -> None:
    """Submit a letter to its session; create the session if there is none.

    Raises BridleError if it was rejected; then it can be sent again.
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
        from bridle.surfaces.shared.skill_prompt import expand_in

        whole = await asyncio.to_thread(expand_in, text, cwd, environ)
        title = title_from(text) if whole != text else ""
        text = whole
    images = await _read_images(letter)
    if session is None:
        made = choice.options().of_personal_session
        session = await api.create(cwd=cwd, agent=choice.agent or "", title=title, options=made)
        began(session, letter.place)
    message = Message("user", (Text(text), *images))
    command: Command = Prompt(message, options, key=letter.key)
    if steers:
        command = Steer(message, letter.key)
    await api.submit(session, command)


async def _read_images(letter: OutgoingPrompt) -> tuple[Media, ...]:
    """Read the images that a prompt names; a shell command has none."""
    if "@" not in letter.typed or letter.typed.startswith(SIGN):
        return ()
    from bridle.surfaces.shared.skill_prompt import read_images

    return await asyncio.to_thread(read_images, letter.typed, letter.cwd)


def join_texts(texts: Iterable[str]) -> str:
    """Join typed texts with line breaks, skipping empty ones."""
    return "\n".join(text for text in texts if text.strip())
