"""The session API of one tenant: sessions of other tenants do not exist there."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest

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
    Configure,
    Decide,
    Delete,
    Label,
    Pin,
    Prompt,
    Push,
    Record,
    Rename,
    Reply,
    Resume,
    Rewind,
    RunOptions,
    RunStarted,
    SessionCreated,
    SessionOptions,
    Steer,
)
from bridle.core.queries import (
    Changes,
    Describe,
    IsRunning,
    ListSessions,
    PlanRewind,
    PreviewContext,
    Records,
    ServerPrompts,
    Servers,
    Status,
)
from bridle.core.revision import FileChange, FileState
from bridle.core.session_api import SessionApi
from bridle.core.tenancy import Scope, Tenant
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.postgres.blobs import BlockingPostgres, PostgresBlobs
from bridle.surfaces.shared.session_calls import fork_session, read_session, wait_for_run
from bridle.system.current_tenant import current
from tests.postgres import fresh_database
from tests.scale.estate import NODE_TOKEN, estate
from tests.sessions.stage import FixedClock, Play, SmallTool, call, says

HELLO = user_message("Hello")


async def watch_one(api: SessionApi, session: SessionId) -> object:
    async with aclosing(api.watch(session)) as items:
        return await anext(items)


async def lend(api: SessionApi, session: SessionId) -> None:
    class Nothing:
        specs = ()

        async def dispatch(self, call: object) -> ToolOutput:
            raise AssertionError

    dispatcher: ToolDispatcher = Nothing()
    async with api.provide_tools(session, dispatcher):
        pass


def submitting(command: Command) -> Callable[[SessionApi, SessionId], Awaitable[object]]:
    return lambda api, session: api.submit(session, command)


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
    Push((HELLO,)),
    Rename("mine"),
    Archive(),
    Configure(),
    Label({}),
]
ATTACKS: list[Callable[[SessionApi, SessionId], Awaitable[object]]] = [
    watch_one,
    lend,
    lambda api, session: wait_for_run(api, session, RunId("r")),
    read_session,
    lambda api, session: api.ask(Status(session)),
    lambda api, session: api.ask(Records(session)),
    fork_session,
    lambda api, session: api.submit(session, Delete()),
    lambda api, session: api.ask(PlanRewind(session, 1)),
    lambda api, session: api.ask(Changes(session)),
    lambda api, session: api.ask(PreviewContext(session)),
    *map(submitting, COMMANDS),
]


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_session_of_another_tenant_is_not_there(
    tmp_path: Path, attack: Callable[[SessionApi, SessionId], Awaitable[object]]
):
    async with estate(tmp_path) as made:
        victim = await made.session("acme")
        before = await made.service.ask(Records(victim))
        api = await made.api("bolt")

        with pytest.raises(SessionNotFound) as there:
            await attack(api, victim)
        with pytest.raises(SessionNotFound) as nowhere:
            await attack(api, SessionId("acme.2"))

        assert str(there.value) == str(nowhere.value).replace("acme.2", "acme.1")
        assert await made.service.ask(Records(victim)) == before


async def test_lists_and_news_show_the_sessions_of_the_tenant_alone(tmp_path: Path):
    async with estate(tmp_path) as made:
        await made.session("acme")
        mine = await made.session("bolt")
        api, admin = await made.api("bolt"), await made.api("")

        assert [one.id for one in await api.ask(ListSessions(archived=True))] == [mine]
        assert {one.id for one in await admin.ask(ListSessions())} == {"acme.1", "bolt.1", "play"}
        assert not await api.ask(IsRunning(SessionId("acme.1")))

        async with aclosing(api.watch(None)) as news:
            first = asyncio.ensure_future(anext(news))
            await asyncio.sleep(0)
            for session in ("acme.1", "bolt.1"):
                await made.service.submit(SessionId(session), Rename("new"))
            assert (await first).session == mine


async def test_what_a_tenant_begins_is_its_own(tmp_path: Path):
    async with estate(tmp_path) as made:
        api = await made.api("acme")
        folder = made.folder("acme")

        named = await api.create(cwd=folder, session_id=SessionId("mine"))
        unnamed = await api.create(cwd=folder)
        fork = await fork_session(api, SessionId("mine"))
        again = await fork_session(api, named, session_id=SessionId("bolt.x"))

        assert named == "acme.mine"
        assert again == "acme.bolt.x"
        assert all(one.startswith("acme.") for one in (unnamed, fork))
        for name in ("mine", "acme.mine"):
            [record] = await api.ask(Records(SessionId(name)))
            assert record.event == SessionCreated(named, folder)


SOME: list[tuple[Scope, Callable[[SessionApi], Awaitable[object]]]] = [
    ("read", lambda api: api.ask(Records(SessionId("1")))),
    ("read", lambda api: api.ask(ListSessions())),
    ("read", lambda api: watch_one(api, SessionId("1"))),
    ("run", lambda api: api.submit(SessionId("1"), Rename("x"))),
    ("run", lambda api: fork_session(api, SessionId("1"))),
    ("decide", lambda api: api.submit(SessionId("1"), Decide(CallId("c"), "once"))),
    ("admin", lambda api: api.submit(SessionId("1"), Configure())),
    ("admin", lambda api: api.submit(SessionId("1"), Delete())),
]


@pytest.mark.parametrize(("scope", "act"), SOME)
async def test_an_act_needs_its_scope(
    tmp_path: Path, scope: Scope, act: Callable[[SessionApi], Awaitable[object]]
):
    others = [one for one in ("read", "run", "decide", "admin") if one != scope]
    async with estate(tmp_path) as made:
        await made.session("acme")

        with pytest.raises(NotAllowed, match=f'no scope "{scope}"'):
            await act(await made.api("acme", *others))
        assert (await made.audited("acme"))[-1].outcome == "refused"
        try:
            await act(await made.api("acme", scope))
        except NotAllowed:
            raise
        except BridleError:
            pass  # there is no call to decide about


async def test_a_tenant_works_in_its_folders_alone(tmp_path: Path):
    async with estate(tmp_path) as made:
        api = await made.api("acme")
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
                api.create(cwd=cwd),
                api.ask(Servers(cwd)),
                api.ask(ServerPrompts(cwd)),
            ):
                with pytest.raises(UsageError, match="is not a folder of tenant acme"):
                    await act
        session = await api.create(cwd=str(inside))
        with pytest.raises(UsageError, match="is not a folder of tenant acme"):
            await api.submit(session, Prompt(HELLO, RunOptions(cwd=made.folder("bolt"))))

        made.tenants.put(Tenant("acme", folders=(made.folder("bolt"),)))
        made.now += 60
        assert await api.create(cwd=made.folder("bolt"))


REFUSED = [
    (RunOptions(mode="yolo"), 'mode "yolo" is not allowed for tenant acme'),
    (RunOptions(until="true"), "until is not allowed for tenant acme"),
    (RunOptions(hooks=HookOverride(disable=("guard",))), "hooks of a client are not for tenant acme"),
    (RunOptions(model="other/model"), 'model "other/model" is not allowed for tenant acme'),
    (RunOptions(params={"model": "large"}), "params: model is not allowed for tenant acme"),
    (RunOptions(params={"models": ["large"]}), "params: models is not allowed for tenant acme"),
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
            await (await made.api("acme")).submit(SessionId("1"), command)


@pytest.mark.parametrize(("options", "words"), [row for row in REFUSED if not row[0].until])
async def test_a_session_cannot_be_made_or_configured_beyond_a_tenant(
    tmp_path: Path, options: RunOptions, words: str
):
    async with estate(tmp_path) as made:
        made.tenants.put(Tenant("acme", models=("scripted/*",)))
        await made.session("acme")
        api = await made.api("acme", "run", "admin")

        for act in (
            api.create(cwd=made.folder("acme"), options=options.of_session),
            api.submit(SessionId("1"), Configure(options.of_session)),
        ):
            with pytest.raises(NotAllowed, match=words):
                await act


@pytest.mark.parametrize("command", [Prompt(HELLO), Resume()])
async def test_a_session_made_in_a_mode_that_its_tenant_lost_starts_no_run(
    tmp_path: Path, command: Prompt | Resume
):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        await made.service.submit(session, Configure(SessionOptions(mode="yolo")))

        with pytest.raises(NotAllowed, match='mode "yolo" is not allowed for tenant acme'):
            await (await made.api("acme")).submit(session, command)


async def test_the_rules_of_a_tenant_hold_in_its_runs(tmp_path: Path):
    wipe = SmallTool("wipe", lambda on: "wiped", access="write")
    play = Play(says("", call("c1", "wipe")), says("Done."))
    async with estate(tmp_path, play, tools=[wipe]) as made:
        made.tenants.put(Tenant("acme", deny=("wipe",), ask=("read_file",), yolo=True))
        session = await made.session("acme")
        api = await made.api("acme")

        options = RunOptions(mode="yolo", allow=("wipe",), env={"PATH": "/evil"})
        receipt = await api.submit(session, Prompt(HELLO, options))
        await wait_for_run(api, session, receipt.run_id)

        [started] = [
            one.event for one in await made.service.ask(Records(session)) if isinstance(one.event, RunStarted)
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
        api = await made.api("acme")
        receipt = await api.submit(session, Prompt(HELLO))
        async for item in api.watch(session):
            if isinstance(item, Record) and type(item.event).__name__ == "ApprovalRequested":
                break
        await api.submit(session, Decide(CallId("c1"), "always"))
        await wait_for_run(api, session, receipt.run_id)

        assert wipe.calls == ["a"]
        assert written == []


async def test_a_blob_of_another_tenant_cannot_be_described(tmp_path: Path):
    """Knowing the digest of a content gives no access to it, and does not show that it exists."""
    postgres = BlockingPostgres(fresh_database())
    blobs = PostgresBlobs(postgres)
    async with estate(tmp_path, blobs=blobs) as made:
        context = copy_context()
        context.run(current.set, "acme")
        digest = await asyncio.to_thread(context.run, blobs.put, b"the secret word\n")
        change = FileChange("/a", None, FileState("file", digest=digest))
        nowhere = FileChange("/a", None, FileState("file", digest="0" * 64))

        assert "the secret word" in await (await made.api("acme")).ask(Describe([change]))
        for tenant in ("bolt", ""):
            api = await made.api(tenant)
            assert await told(api, change) == (await told(api, nowhere)).replace("0" * 64, digest)
            assert "secret" not in await told(api, change)
    postgres.close()


async def told(api: SessionApi, change: FileChange) -> str:
    """Return the answer to a change, or the reason for its refusal."""
    try:
        return await api.ask(Describe([change]))
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
            await (await made.api(tenant)).ask(Records(SessionId(name)))

        assert store.seen == ["acme", "acme", ""]
        assert current.get() == ""


async def test_a_revoked_token_counts_no_more_also_in_streams(tmp_path: Path):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        token = made.token("acme")
        principal = await made.gate.principal(token)
        assert principal is not None
        api = made.gate.api(principal)
        async with aclosing(api.watch(session)) as items:
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
            await api.ask(ListSessions())


async def test_the_token_of_the_node_gets_the_api_itself(tmp_path: Path):
    async with estate(tmp_path) as made:
        principal = await made.gate.principal(NODE_TOKEN)
        assert principal is not None
        assert made.gate.api(principal) is made.service
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
        admin, usual = await made.api(""), await made.api("", "read", "run")
        await made.audit.note(await made.gate.principal(NODE_TOKEN), "x", "y", "done")
        await made.audit.flush()

        await admin.submit(session, Rename("theirs"))
        assert (await fork_session(admin, session)).startswith("acme.")
        with pytest.raises(SessionNotFound):
            await usual.ask(Records(session))
        for api in (admin, usual, await made.api("acme")):
            with pytest.raises(SessionNotFound):
                await api.ask(Records(SessionId("audit._.node")))
            with pytest.raises((SessionNotFound, NotAllowed)):
                await api.submit(SessionId("audit._.node"), Delete())


async def test_what_changes_something_is_in_the_audit_without_contents(tmp_path: Path):
    async with estate(tmp_path) as made:
        session = await made.session("acme")
        api = await made.api("acme")
        other = await made.api("bolt")
        receipt = await api.submit(SessionId("1"), Prompt(user_message("the secret word")))
        await wait_for_run(api, session, receipt.run_id)
        with pytest.raises(SessionNotFound):
            await other.submit(session, Delete())
        await api.submit(session, Delete())

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
        assert not any(one.id.startswith("audit.") for one in await made.service.ask(ListSessions()))
