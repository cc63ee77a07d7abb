"""The session data that panels get from a real service with a scripted model."""

from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.model import Price
from bridle.core.protocol import Rewind
from bridle.core.queries import Records
from bridle.core.summary import SessionSummary
from bridle.surfaces.shared.session_calls import read_session
from bridle.surfaces.tui.panels.host import Child, Point
from bridle.surfaces.tui.panels.session_views import ApiSessionViews, descendants
from tests.sessions.stage import Play, Stage, says
from tests.sessions.troupe import Troupe, spawn


async def test_one_can_go_back_to_before_each_prompt_and_undo_that():
    async with Stage(Play(says("one"), says("two"))) as stage:
        views = ApiSessionViews(lambda: stage.service)
        await stage.run("first")
        before = len(await stage.service.ask(Records(stage.session)))
        await stage.run("second")
        both = [Point(before, 1000, "second", 1), Point(1, 1000, "first", 1)]
        assert await views.points(stage.session) == both
        last = len(await stage.service.ask(Records(stage.session)))
        await stage.service.submit(stage.session, Rewind(before))

        points = await views.points(stage.session)
        assert points == [Point(last, 1000, "", undo=True), Point(1, 1000, "first", 1)]
        await stage.service.submit(stage.session, Rewind(last))
        assert (await views.points(stage.session))[1:] == both
        texts = [one.message.text for one in (await read_session(stage.service, stage.session)).messages]
        assert texts == ["first", "one", "second", "two"]


async def test_sub_agents_are_named_and_counted():
    parts = {
        "go": [says("", spawn("s", "middle")), says("done")],
        "middle": [says("", spawn("s", "leaf")), says("up")],
        "leaf": [says("leaf")],
    }
    async with Troupe(parts, price=Price(input=1_000_000, output=0)) as troupe:
        await troupe.run("go")
        children = await ApiSessionViews(lambda: troupe.service).children(troupe.main)

    middle, leaf = children
    assert [replace(child, id=SessionId("x"), parent=SessionId("y")) for child in children] == [
        _child("agent-1", "middle", turns=2, tokens=45, cost=30.0),
        _child("agent-1.1", "leaf", turns=1, tokens=15, cost=10.0),
    ]
    assert (middle.parent, leaf.parent) == (troupe.main, middle.id)


def _child(name: str, task: str, **used) -> Child:
    values = {"agent": "default", "model": "scripted/play", "outcome": "completed", **used}
    return Child(SessionId("x"), SessionId("y"), name, task, **values)


def summary(name: str, parent: str | None, created_at: int, *, sub_agent: bool = True) -> SessionSummary:
    above = SessionId(parent) if parent else None
    return SessionSummary(SessionId(name), "", "/", "", created_at, 1, 1, parent=above, sub_agent=sub_agent)


def test_sub_agents_come_below_their_parents_in_order():
    sessions = [
        summary("c2", "p", 5),
        summary("c1", "p", 2),
        summary("g1", "c1", 9),
        summary("fork", "p", 3, sub_agent=False),
        summary("p", None, 1, sub_agent=False),
        summary("other", "x", 1),
        summary("loop", "loop", 1),
    ]

    assert [one.id for one in descendants(SessionId("p"), sessions)] == ["c1", "g1", "c2"]
    assert descendants(SessionId("loop"), sessions) == []
