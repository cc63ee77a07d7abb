"""Session titles: the small model names a session after its first prompt."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing

from msgspec.structs import replace

from bridle.core.errors import BridleError
from bridle.core.messages import Message, Text
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.ports import Models
from bridle.core.protocol import SessionTitled
from bridle.core.summary import TITLE_INSTRUCTION, title_from
from bridle.sessions.journal import Journal

MAX_PROMPT_CHARS = 2_000
MAX_OUTPUT_TOKENS = 60
TIMEOUT_S = 30.0
MAX_WORDS = 6
GRACE_S = 2.0  # a process that exits waits this long for a title being written
_JOINTS = frozenset(
    "and as at by for from in into of on or to with und mit für von et de pour y en para".split()
)


class TitleWriter:
    """Titles a session during its first run; a failure changes nothing."""

    def __init__(self, models: Models, journal: Journal) -> None:
        self._models = models
        self._journal = journal
        self._task: asyncio.Task[None] | None = None

    @property
    def is_active(self) -> bool:
        """True while a title is being written."""
        return self._task is not None and not self._task.done()

    def begin(self, ref: str, prompt: Message, is_let_through: Callable[[], Awaitable[bool]]) -> None:
        """Ask a model for a title if this is the first run of an untitled session.

        The model gets the prompt, so this waits until limits and hooks let it through to the run's own model.
        """
        known = self._journal.session.known
        if known.totals.runs == 1 and known.model and not known.created.title:
            self._task = asyncio.create_task(self._title(ref, prompt, is_let_through))

    async def aclose(self) -> None:
        """Wait up to `GRACE_S` for a title being written, then cancel it."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=GRACE_S)
            self._task.cancel()

    async def _title(self, ref: str, prompt: Message, is_let_through: Callable[[], Awaitable[bool]]) -> None:
        title_before = self._journal.session.known.title
        try:
            if not await is_let_through():
                return
            async with asyncio.timeout(TIMEOUT_S):
                titled = await write_title(self._models, ref, prompt)
            if titled is not None:
                title = self._journal.session.known.title
                is_renamed = title != title_before  # by the user; the usage counts all the same
                await self._journal.record(replace(titled, title=title) if is_renamed else titled)
        except (BridleError, TimeoutError):
            pass


async def write_title(models: Models, ref: str, prompt: Message) -> SessionTitled | None:
    """Ask a model for a title; None if the answer is empty. Raises BridleError."""
    provider, model = await models.resolve(ref)
    request = ModelRequest(
        model.name,
        TITLE_INSTRUCTION,
        (Message("user", (Text(prompt.text[:MAX_PROMPT_CHARS]),)),),
        max_output_tokens=min(MAX_OUTPUT_TOKENS, model.max_output_tokens),
    )
    async with aclosing(provider.stream(request)) as stream:
        async for item in stream:
            if isinstance(item, ModelReply) and (title := _clean(item.message.text)):
                return SessionTitled(title, model.ref, item.usage, item.cost_at(model.price))
    return None


def _clean(text: str) -> str:
    """Return the first line, without the quotes and periods that models add, in at most six words."""
    words = title_from(text).strip(" \t\"'`*#.").split()
    if len(words) > MAX_WORDS:
        joint = next((at for at in range(MAX_WORDS, 1, -1) if words[at].lower() in _JOINTS), MAX_WORDS)
        words = words[:joint]
    return " ".join(words).rstrip(",;:")
