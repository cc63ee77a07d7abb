"""A door for one tenant: what is somebody else's does not exist there."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

from bridle.core.door import Door
from bridle.core.errors import BridleError, NotAllowed, SessionNotFound, UsageError
from bridle.core.hook import HookOverride
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.ports import ToolDispatcher, ToolOutput
from bridle.core.protocol import (
    Archive,
    Audited,
    Cancel,
    Command,
    Compact,
    Decide,
    Pin,
    Prompt,
    Record,
    Rename,
    Reply,
    Resume,
    Rewind,
    RunOptions,
    RunStarted,
    SessionCreated,
    Steer,
)
from bridle.core.revision import FileChange, FileState
from bridle.core.tenancy import Scope, Tenant
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.postgres.blobs import PostgresBlobs
from bridle.stores.postgres.blocking import BlockingPostgres
from bridle.system.tenant import current
from tests.postgres import fresh_database
from tests.scale.estate import NODE_TOKEN, estate
from tests.sessions.stage import FixedClock, Play, SmallTool, call, says

HELLO = user_message("Hello")


async def watch_one(door: Door, session: SessionId) -> object:
    async with aclosing(door.watch(session)) as items:
        return await anext(items)


async def lend(door: Door, session: SessionId) -> None:
    class Nothing:
        specs = ()

        async def dispatch(self, call: object) -> ToolOutput:
            raise AssertionError

    dispatcher: ToolDispatcher = Nothing()
    async with door.lend(session, dispatcher):
        pass


def submitting(command: Command) -> Callable[[Door, SessionId], Awaitable[object]]:
    return lambda door, session: door.submit(session, command)


COMMANDS = [
    Prompt(HELLO),
    Steer(HELLO),
    Resume(),
    Decide(CallId("c"), "once"),
    Reply(CallId("c")),
    Cancel(),
    Rewind(1),
    Compact(),
    Pin("x"),
    Rename("mine"),
    Archive(),
]
ATTACKS: list[Callable[[Door, SessionId], Awaitable[object]]] = [
    watch_one,
    lend,
    lambda door, session: door.wait(session, RunId("r")),
    lambda door, session: door.read(session),
    lambda door, session: door.glance(session),
    lambda door, session: door.records(session),
    lambda door, session: door.fork(session),
    lambda door, session: door.delete(session),
    lambda door, session: door.plan_rewind(session, 1),
    lambda door, session: door.changes(session),
    lambda door, session: door.next_context(session),
    *map(submitting, COMMANDS),
]


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_session_of_another_tenant_is_not_there(
    tmp_path: Path, attack: Callable[[Door, SessionId], Awaitable[object]]
):
    async with estate(tmp_path) as made:
        victim = await made.session("acme")
        before = await made.service.records(victim)
        door = await made.door("bolt")

        with pytest.raises(SessionNotFound) as there:
            await attack(door, victim)
        with pytest.raises(SessionNotFound) as nowhere:
            await attack(door, SessionId("acme.2"))

        assert str(there.value) == str(nowhere.value).replace("acme.2", "acme.1")
        assert await made.service.records(victim) == before


async def test_lists_and_news_show_the_sessions_of_the_tenant_alone(tmp_path: Path):
    async with estate(tmp_path) as made:
        await made.session("acme")
        mine = await made.session("bolt")
        door, admin = await made.door("bolt"), await made.door("")

        assert [one.id for one in await door.list(archived=True)] == [mine]
        assert {one.id for one in await admin.list()} == {"acme.1", "bolt.1", "play"}
        assert not await door.is_running(SessionId("acme.1"))

        async with aclosing(door.news()) as news:
            first = asyncio.ensure_future(anext(news))
            await asyncio.sleep(0)
            for session in ("acme.1", "bolt.1"):
                await made.service.submit(SessionId(session), Rename("new"))
            assert (await first).session == mine


async def test_what_a_tenant_begins_is_its_own(tmp_path: Path):
    async with estate(tmp_path) as made:
        door = await made.door("acme")
        folder = made.folder("acme")

        named = await door.create(cwd=folder, session_id=SessionId("mine"))
        unnamed = await door.create(cwd=folder)
        fork = await door.fork(SessionId("mine"))
        again = await door.fork(named, session_id=SessionId("bolt.x"))

        assert named == "acme.mine"
        assert again == "acme.bolt.x"
        assert all(one.startswith("acme.") for one in (unnamed, fork))
        for name in ("mine", "acme.mine"):
            [record] = await door.records(SessionId(name))
            assert record.event == SessionCreated(named, folder)


SOME: list[tuple[Scope, Callable[[Door], Awaitable[object]]]] = [
    ("read", lambda door: door.records(SessionId("1"))),
    ("read", lambda door: door.list()),
    ("read", lambda door: watch_one(door, SessionId("1"))),
    ("run", lambda door: door.submit(SessionId("1"), Rename("x"))),
    ("run", lambda door: door.fork(SessionId("1"))),
    ("decide", lambda door: door.submit(SessionId("1"), Decide(CallId("c"), "once"))),
    ("admin", lambda door: door.delete(SessionId("1"))),
]


@pytest.mark.parametrize(("scope", "act"), SOME)
async def test_an_act_needs_its_scope(tmp_path: Path, scope: Scope, act: Callable[[Door], Awaitable[object]]):
    others = [one for one in ("read", "run", "decide", "admin") if one != scope]
    async with estate(tmp_path) as made:
        await made.session("acme")

        with pytest.raises(NotAllowed, match=f'no scope "{scope}"'):
            await act(await made.door("acme", *others))
        assert (await made.audited("acme"))[-1].outcome == "refused"
        try:
            await act(await made.door("acme", scope))
        except NotAllowed:
            raise
        except BridleError:
            pass  # there is no call to decide about


async def test_a_tenant_works_in_its_folders_alone(tmp_path: Path):
    async with estate(tmp_path) as made:
        door = await made.door("acme")
        inside = Path(made.folder("acme")) / "sub"
        inside.mkdir()
        (inside / "out").symlink_to(tmp_path / "bolt")
        outside = [
            "/",
            str(tmp_path),
            made.folder("bolt"),
            f"{inside}/../../bolt",
            str(inside / "out"),
            "acme",
            "",
            f"{made.folder('acme')}x",
            "\0",
        ]

        for cwd in outside:
            for act in (
                door.create(cwd=cwd),
                door.servers(cwd),
                door.server_prompts(cwd),
            ):
                with pytest.raises(UsageError, match="is no folder of tenant acme"):
                    await act
        session = await door.create(cwd=str(inside))
        with pytest.raises(UsageError, match="is no folder of tenant acme"):
            await door.submit(session, Prompt(HELLO, RunOptions(cwd=made.folder("bolt"))))

        made.tenants.put(Tenant("acme", folders=(made.folder("bolt"),)))
        made.now += 60
        assert await door.create(cwd=made.folder("bolt"))


REFUSED = [
    (RunOptions(mode="yolo"), 'mode "yolo" is not for tenant acme'),
    (RunOptions(until="true"), "until is not for tenant acme"),
    (RunOptions(hooks=HookOverride(disable=("guard",))), "hooks of a client are not for tenant acme"),
    (RunOptions(model="other/model"), 'model "other/model" is not for tenant acme'),
    (RunOptions(params={"model": "large"}), "params: model is not for tenant acme"),
    (RunOptions(params={"models": ["large"]}), "params: models is not for tenant acme"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
@pytest.mark.parametrize("kind", [Prompt, Resume])
async def test_what_reaches_beyond_a_tenant_is_refused(
    tmp_path: Path, options: RunOptions, words: str, kind: type
):
    async with estate(tmp_path) as made:
        made.tenants.put(Tenant("acme", models=("scripted/*",)))
        await made.session("acme")
        command = Prompt(HELLO, options) if kind is Prompt else Resume(options)

        with pytest.raises(NotAllowed, match=words):
            await (await made.door("acme")).submit(SessionId("1"), command)


async def test_the_rules_of_a_tenant_hold_in_its_runs(tmp_path: Path):
    wipe = SmallTool("wipe", lambda on: "wiped", access="write")
    play = Play(says("", call("c1", "wipe")), says("Done."))
    async with estate(tmp_path, play, tools=[wipe]) as made:
        made.tenants.put(Tenant("acme", deny=("wipe",), ask=("read_file",), yolo=True))
        session = await made.session("acme")
        door = await made.door("acme")

        options = RunOptions(mode="yolo", allow=("wipe",), env={"PATH": "/evil"})
        receipt = await door.submit(session, Prompt(HELLO, options))
        await door.wait(session, receipt.run_id)

        [started] = [
            one.event for one in await made.service.records(session) if isinstance(one.event, RunStarted)
        ]
        assert wipe.calls == []
        assert started.options.deny == ("wipe",)
        assert started.options.allow == ("wipe",)
        assert started.options.ask == ("read_file",)


async def test_always_of_a_tenant_is_not_for_the_whole_machine(tmp_path: Path):
    written: list[str] = []
    wipe = SmallTool("wipe", lambda on: "wiped", access="write")
    play = Play(says("", call("c1", "wipe")), says("Done."))
    async with estate(tmp_path, play, tools=[wipe], remember=written.extend) as made:
        session = await made.session("acme")
        door = await made.door("acme")
        receipt = await door.submit(session, Prompt(HELLO))
        async for item in door.watch(session):
            if isinstance(item, Record) and type(item.event).__name__ == "ApprovalRequested":
                break
        await door.submit(session, Decide(CallId("c1"), "always"))
        await door.wait(session, receipt.run_id)

        assert wipe.calls == ["a"]
        assert written == []


async def test_a_blob_of_another_tenant_cannot_be_described(tmp_path: Path):
    """Whoever learns the digest of a content has nothing of it, and does not hear that it is there."""
    postgres = BlockingPostgres(fresh_database())
    blobs = PostgresBlobs(postgres)
    async with estate(tmp_path, blobs=blobs) as made:
        context = copy_context()
        context.run(current.set, "acme")
        digest = await asyncio.to_thread(context.run, blobs.put, b"the secret word\n")
        change = FileChange("/a", None, FileState("file", digest=digest))
        nowhere = FileChange("/a", None, FileState("file", digest="0" * 64))

        assert "the secret word" in await (await made.door("acme")).describe([change])
        for tenant in ("bolt", ""):
            door = await made.door(tenant)
            assert await told(door, change) == (await told(door, nowhere)).replace("0" * 64, digest)
            assert "secret" not in await told(door, change)
    postgres.close()


async def told(door: Door, change: FileChange) -> str:
    """Return what is said about a change, or why nothing is."""
    try:
        return await door.describe([change])
    except BridleError as error:
        return str(error)


async def test_a_call_is_made_in_the_name_of_the_tenant_whose_the_session_is(tmp_path: Path):
    class Noting(EphemeralStore):
        seen: list[str]

        async def read(self, *args: Any, **options: Any) -> list[Record]:
            self.seen.append(current.get())
            return await super().read(*args, **options)

    store = Noting(FixedClock())
    store.seen = []
    async with estate(tmp_path, store=store) as made:
        await made.session("acme")
        store.seen.clear()
        for tenant, name in (("acme", "1"), ("", "acme.1"), ("", "play")):
            await (await made.door(tenant)).records(SessionId(name))

        assert store.seen == ["acme", "acme", ""]
        assert current.get() == ""


async def test_a_revoked_token_counts_no_more_also_in_streams(tmp_path: Path):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        token = made.token("acme")
        principal = await made.gate.principal(token)
        assert principal is not None
        door = made.gate.door(principal)
        async with aclosing(door.watch(session)) as items:
            await anext(items)
            made.tenants.revoke(principal.token_id)
            made.now += 2.9
            assert await made.gate.principal(token) == principal  # known for three seconds

            made.now += 0.2
            await made.service.submit(session, Rename("x"))
            with pytest.raises(NotAllowed, match="the token was revoked"):
                await anext(items)
        assert await made.gate.principal(token) is None
        with pytest.raises(NotAllowed, match="the token was revoked"):
            await door.list()


async def test_the_token_of_the_node_opens_the_door_itself(tmp_path: Path):
    async with estate(tmp_path) as made:
        principal = await made.gate.principal(NODE_TOKEN)
        assert principal is not None
        assert made.gate.door(principal) is made.service
        for wrong in (
            "",
            "x",
            NODE_TOKEN + "x",
            made.token("acme")[:-1] + "g",
            f"brdl_{'0' * 16}_{'0' * 64}",
        ):
            assert await made.gate.principal(wrong) is None
        right = made.token("acme")
        other = right[:-1] + ("0" if right[-1] != "0" else "1")
        assert await made.gate.principal(right) is not None
        assert await made.gate.principal(other) is None


async def test_an_administrator_of_the_cluster_works_for_every_tenant(tmp_path: Path):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        admin, usual = await made.door(""), await made.door("", "read", "run")
        await made.audit.note(await made.gate.principal(NODE_TOKEN), "x", "y", "done")
        await made.audit.flush()

        await admin.submit(session, Rename("theirs"))
        assert (await admin.fork(session)).startswith("acme.")
        with pytest.raises(SessionNotFound):
            await usual.records(session)
        for door in (admin, usual, await made.door("acme")):
            with pytest.raises(SessionNotFound):
                await door.records(SessionId("audit._.node"))
            with pytest.raises((SessionNotFound, NotAllowed)):
                await door.delete(SessionId("audit._.node"))


async def test_what_changes_something_is_in_the_audit_without_contents(tmp_path: Path):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        door = await made.door("acme")
        other = await made.door("bolt")
        receipt = await door.submit(SessionId("1"), Prompt(user_message("the secret word")))
        await door.wait(session, receipt.run_id)
        with pytest.raises(SessionNotFound):
            await other.delete(session)
        await door.delete(session)

        def noted(event: Audited) -> tuple[str, ...]:
            return event.tenant, event.user, event.action, event.target, event.outcome

        assert [noted(event) for event in await made.audited("acme")] == [
            ("acme", "user-of-acme", "prompt", "acme.1", "done"),
            ("acme", "user-of-acme", "delete", "acme.1", "done"),
        ]
        assert [noted(event) for event in await made.audited("bolt")] == [
            ("bolt", "user-of-bolt", "delete", "acme.1", "failed"),
        ]
        journals = [one for one in await made.stage.store.list(archived=True) if one.archived]
        texts = [str(await made.stage.store.read(one.id)) for one in journals]
        assert not any("secret word" in text or "brdl_" in text for text in texts)
        assert not any(one.id.startswith("audit.") for one in await made.service.list())
