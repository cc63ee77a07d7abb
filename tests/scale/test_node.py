"""A node with only its sessions: how it reacts to news from others."""

import asyncio
from typing import Any, cast

from bridle.config.scale_keys import ScaleSettings
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.model import Model
from bridle.core.ports import Provider
from bridle.core.protocol import Prompt
from bridle.scale.members import Member
from bridle.scale.node import Node, NodeParts
from bridle.stores.postgres.pool import Postgres
from tests.patience import PATIENCE_S
from tests.sessions.stage import Cast, Play, Stage, says

S = SessionId("play")


class SlowModels(Cast):
    """A model whose server takes its time to start."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider, window_tokens=10_000)
        self.asked, self.go = asyncio.Event(), asyncio.Event()

    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        self.asked.set()
        await self.go.wait()
        return await super().resolve(ref)


def node_of(stage: Stage) -> Node:
    nothing: Any = None
    ground = NodeParts(
        scale=ScaleSettings(),
        postgres=Postgres("postgresql:///none"),
        url="postgresql:///none",
        store=nothing,
        claims=nothing,
        me=Member("me", "here"),
        is_worker=False,
        new_id=lambda: "",
        model_of=lambda agent, folder: "",
        folders=nothing,
        tenant_budget=nothing,
    )
    node = Node(ground, cast("Any", None))
    node.give(stage.service)
    return node


async def test_late_news_of_another_worker_does_not_end_a_session_that_is_about_to_run_here():
    models = SlowModels(play := Play(says("done")))
    async with asyncio.timeout(PATIENCE_S):
        stage = Stage(play, models=models)
        await stage.service.create(cwd="/", session_id=S)
        node = node_of(stage)
        submitting = asyncio.create_task(stage.service.submit(S, Prompt(user_message("hi"))))
        await models.asked.wait()

        node._note_claim(f"{S} another")
        await asyncio.gather(*node._loose)
        models.go.set()
        receipt = await submitting
        assert receipt.run_id is not None
        ended = await stage.service.wait(S, receipt.run_id)
        await stage.service.aclose()

    assert (ended.outcome, ended.text) == ("completed", "done")


async def test_a_session_that_rests_here_is_let_go_when_another_worker_takes_it():
    async with asyncio.timeout(PATIENCE_S):
        stage = Stage(Play(says("done")))
        await stage.service.create(cwd="/", session_id=S)
        node = node_of(stage)
        receipt = await stage.service.submit(S, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        await stage.service.wait(S, receipt.run_id)
        await stage.service.until_free(S)

        node._note_claim(f"{S} me")
        node._note_claim(f"{S} ")
        before = [one.id for one in stage.service.live()]
        node._note_claim(f"{S} another")
        await asyncio.gather(*node._loose)
        after = [one.id for one in stage.service.live()]
        await stage.service.aclose()

    assert (before, after) == ([S], [])
