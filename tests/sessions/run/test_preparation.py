"""Notices before a run starts: settings that have no effect."""

import asyncio
from contextlib import aclosing

import pytest

from bridle.core.protocol import Notice, Record, RunEnded
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage, says

NOTE = "this project is not trusted: left out model"


async def test_what_has_no_effect_is_said_once_in_a_session():
    async with Stage(Play(says("one"), says("two")), notes=(NOTE,)) as stage:
        watching = stage.service.watch(stage.session)
        await anext(watching)
        await stage.run("first")
        await stage.run("second")

        heard, ended = [], 0
        async with aclosing(watching), asyncio.timeout(PATIENCE_S):
            while ended < 2:
                item = await anext(watching)
                heard += [item] if isinstance(item, Notice) else []
                ended += isinstance(item, Record) and isinstance(item.event, RunEnded)
    assert heard == [Notice(NOTE)]


async def test_it_is_said_before_a_model_is_refused():
    """The notice names the model of the project that is ignored; otherwise the user would not know why."""
    async with Stage(Play(), notes=(NOTE,)) as stage:
        watching = stage.service.watch(stage.session)
        await anext(watching)
        with pytest.raises(KeyError):  # of the stage, which knows two models
            await stage.run("hello", model="nobody/knows")

        async with aclosing(watching), asyncio.timeout(PATIENCE_S):
            assert await anext(watching) == Notice(NOTE)
