"""The connection: batches of patches, one followed session at a time, and disconnects."""

import asyncio
from collections.abc import Callable, Sequence

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import BridleError, DaemonGone
from bridle.core.ids import SessionId
from bridle.core.session_api import LiveSession, SessionApi
from bridle.surfaces.shared.view_model.view_types import Drop, Grow, Head, HeadChanged, Patch, ViewSnapshot
from bridle.surfaces.tui.session_link import LinkState, SessionLink, add_patches
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, says


class Heard:
    """Takes note of everything that a link says."""

    def __init__(self) -> None:
        self.states: list[tuple[LinkState, str]] = []
        self.views: list[ViewSnapshot] = []
        self.batches: list[Sequence[Patch]] = []
        self.losses: list[tuple[SessionId, str]] = []
        self.live: dict[SessionId, LiveSession | None] = {}
        self._changed = asyncio.Event()

    def link_changed(self, state: LinkState, why: str = "") -> None:
        self.states.append((state, why))
        self._changed.set()

    def shown(self, view: ViewSnapshot) -> None:
        self.views.append(view)
        self._changed.set()

    def patched(self, session: SessionId, patches: Sequence[Patch]) -> None:
        self.batches.append(patches)
        self._changed.set()

    def lost(self, session: SessionId, error: BridleError) -> None:
        self.losses.append((session, error.message))
        self._changed.set()

    def session_changed(self, session: SessionId, live: LiveSession | None, *, deleted: bool) -> None:
        self.live[session] = live
        self._changed.set()

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                self._changed.clear()
                await self._changed.wait()


async def opened(stage: Stage) -> SessionApi:
    return stage.service


async def test_a_session_is_shown_and_then_patched():
    heard = Heard()
    async with Stage(Play(says("hello"))) as stage, asyncio.TaskGroup() as tasks:
        link = SessionLink(lambda: opened(stage), heard)
        link.look_at(stage.session)
        running = tasks.create_task(link.run())
        await heard.until(lambda: heard.views)
        await stage.run("hi")
        await heard.until(lambda: link.view_model and link.view_model.head.outcome == "completed")
        await heard.until(
            lambda: heard.batches and heads(heard)[-1:] == [link.view_model and link.view_model.head]
        )
        running.cancel()

    assert heard.states == [("ready", "")]
    assert len(heard.views) == 1
    assert stage.session in heard.live


def heads(heard: Heard) -> list[Head]:
    return [patch.head for batch in heard.batches for patch in batch if isinstance(patch, HeadChanged)]


async def test_another_session_takes_the_place_of_the_one_before():
    heard = Heard()
    async with Stage(Play()) as stage, asyncio.TaskGroup() as tasks:
        other = await stage.service.create(cwd="/")
        link = SessionLink(lambda: opened(stage), heard)
        running = tasks.create_task(link.run())
        await heard.until(lambda: heard.states)
        link.look_at(stage.session)
        link.look_at(other)
        await heard.until(lambda: heard.views)
        link.look_at(SessionId("nowhere"))
        await heard.until(lambda: heard.losses)
        running.cancel()

    assert [view.head.session for view in heard.views] == [other]
    assert [session for session, _ in heard.losses] == ["nowhere"]


async def test_an_api_that_does_not_open_is_tried_again():
    heard, tries = Heard(), []

    async with Stage(Play()) as stage, asyncio.TaskGroup() as tasks:

        async def third_time() -> SessionApi:
            tries.append(1)
            if len(tries) < 3:
                raise DaemonGone("not yet")
            return stage.service

        running = tasks.create_task(SessionLink(third_time, heard).run())
        await heard.until(lambda: heard.states[-1:] == [("ready", "")])
        running.cancel()

    assert heard.states == [("reconnecting", "not yet"), ("reconnecting", "not yet"), ("ready", "")]


def told(patches: Sequence[Patch]) -> tuple[dict[str, str], list[Head], list[str]]:
    """Apply patches as a screen would: the texts, the last head, and what was dropped."""
    texts: dict[str, str] = {}
    last: list[Head] = []
    dropped = []
    for patch in patches:
        if isinstance(patch, Grow):
            texts[patch.key + patch.field] = texts.get(patch.key + patch.field, "") + patch.text
        elif isinstance(patch, HeadChanged):
            last = [patch.head]
        elif isinstance(patch, Drop):
            texts.pop(f"{patch.key}text", None)
            dropped.append(patch.key)
    return texts, last, dropped


grown = st.builds(Grow, st.sampled_from("ab"), st.text(max_size=3), st.sampled_from(["text", "output"]))
changed = st.builds(lambda seq: HeadChanged(Head(SessionId("s"), seq, "", "/", "")), st.integers(0, 9))
dropped = st.builds(Drop, st.sampled_from("ab"))


@given(st.lists(st.lists(grown | changed | dropped, max_size=6), max_size=6))
def test_a_batch_says_what_its_patches_say(groups: list[list[Patch]]):
    pending: list[Patch] = []
    for group in groups:
        add_patches(pending, group)

    assert told(pending) == told([patch for group in groups for patch in group])


def test_text_for_the_same_item_becomes_one_patch():
    pending: list[Patch] = []
    add_patches(pending, [Grow("a", str(number)) for number in range(10)])

    assert pending == [Grow("a", "0123456789")]
