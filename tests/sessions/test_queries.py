"""Answers to questions: every question has a handler."""

from typing import get_args

import pytest

from bridle.core.errors import ConfigError, NotAllowed, SessionNotFound
from bridle.core.ids import SessionId
from bridle.core.queries import AnyQuery, Peers, WriteToPeer
from bridle.core.server_views import PeerMessage
from bridle.core.tenancy import qualify_session
from tests.sessions.stage import Play, Stage


async def test_every_question_has_a_handler():
    async with Stage(Play()) as stage:
        handlers = stage.service._queries.handlers

    assert set(handlers) == set(get_args(AnyQuery))


async def test_peers_need_comms_and_belong_to_the_user():
    async with Stage(Play()) as stage:
        session = await stage.service.create(cwd="/")
        with pytest.raises(ConfigError, match="messages between agents are off"):
            await stage.service.ask(Peers(session))
        with pytest.raises(ConfigError, match="messages between agents are off"):
            await stage.service.ask(WriteToPeer(session, PeerMessage("anna", text="hi")))
        theirs = await stage.service.create(cwd="/", session_id=qualify_session("acme", "one"))
        with pytest.raises(NotAllowed):
            await stage.service.ask(Peers(theirs))
        with pytest.raises(SessionNotFound):
            await stage.service.ask(Peers(SessionId("none")))
