"""Answers to questions: every question has a handler."""

from typing import get_args

from bridle.core.queries import AnyQuery
from tests.sessions.stage import Play, Stage


async def test_every_question_has_a_handler():
    async with Stage(Play()) as stage:
        handlers = stage.service._queries.handlers

    assert set(handlers) == set(get_args(AnyQuery))
