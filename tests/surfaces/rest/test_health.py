"""The health of the service: whether it lives, whether it accepts requests, and its metrics."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from bridle.app import Extensions, open_service, open_telemetry
from bridle.config.settings import load_settings
from bridle.core.errors import StoreError
from bridle.core.ids import SessionId
from bridle.core.protocol import RunStarted
from bridle.core.queries import Records
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.daemon.http_service import operations
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.readiness import KEEP_S, Checks
from bridle.surfaces.shared.folder_info import Folders
from tests.sessions.stage import FixedClock
from tests.surfaces.rest.house import House, opened, settle

HELLO = [{"text": "hello"}]
INCOMING = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class MoodyStore(EphemeralStore):
    """A store that stops answering on demand."""

    is_away = False

    async def read(self, *args, **options):
        if self.is_away:
            raise StoreError("the database at db.internal says no")
        return await super().read(*args, **options)


@asynccontextmanager
async def run_by(
    home: Path, tmp_path: Path, env: dict[str, str], store: MoodyStore, telemetry: str = ""
) -> AsyncIterator[tuple[House, asyncio.Event]]:
    """Open a house as the daemon does, and what says that it ends."""
    project, draining = settle(home, tmp_path, HELLO), asyncio.Event()
    with (home / "config.toml").open("a") as file:
        file.write(f"[telemetry]\n{telemetry}")
    settings = load_settings(env, project)
    followed = open_telemetry(settings, env)
    service = open_service(settings, env, None, Extensions(store=store, telemetry=followed))
    shown = operations(service, followed, settings.telemetry, draining.is_set)
    folders, streams = Folders(env, str(project)), Streams(service)
    app = make_app(service, folders, streams, readiness=shown.readiness, metrics=shown.metrics)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as http:
        try:
            yield House(service, http, project), draining
        finally:
            streams.stop()
            await service.aclose()


async def test_it_is_ready_by_default_when_the_store_answers(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        ready = await house.get("/ready")
        metrics = await house.get("/metrics")

    assert (ready.status_code, ready.text) == (200, "ready")
    assert (metrics.status_code, metrics.json()["hint"]) == (
        404,
        "bridle config set telemetry.prometheus true",
    )


async def test_it_is_not_ready_without_its_store_and_says_no_more(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    store = MoodyStore(FixedClock())
    store.is_away = True
    async with run_by(home, tmp_path, env, store) as (house, _):
        health = await house.get("/health")
        ready = await house.get("/ready")

    assert (health.status_code, ready.status_code) == (200, 503)
    assert (ready.json()["code"], ready.json()["detail"]) == ("NOT_READY", "not in order: store")
    assert "db.internal" not in ready.text


async def test_it_is_not_ready_once_it_is_to_end(home: Path, tmp_path: Path, env: dict[str, str]):
    async with run_by(home, tmp_path, env, MoodyStore(FixedClock())) as (house, draining):
        before = await house.get("/ready")
        draining.set()
        after = await house.get("/ready")

    assert before.status_code == 200
    assert (after.status_code, after.json()["detail"]) == (503, "not in order: draining")


async def test_its_numbers_are_shown(home: Path, tmp_path: Path, env: dict[str, str]):
    store = MoodyStore(FixedClock())
    async with run_by(home, tmp_path, env, store, "prometheus = true\n") as (house, _):
        await house.session("hi")
        shown = await house.get("/metrics")

    assert shown.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    families = {family.name: family for family in text_string_to_metric_families(shown.text)}
    assert [sample.value for sample in families["bridle_runs_started"].samples] == [1.0]


async def test_a_run_goes_on_in_the_trace_of_its_request(home: Path, tmp_path: Path, env: dict[str, str]):
    async def begun(house: House, session: str) -> list[str]:
        records = await house.service.ask(Records(SessionId(session)))
        return [one.event.options.trace for one in records if isinstance(one.event, RunStarted)]

    prompt = {"role": "user", "parts": [{"type": "text", "text": "hi"}]}
    async with opened(home, tmp_path, env, HELLO) as house:
        made = await house.post("/sessions", {"prompt": "hi"}, traceparent=INCOMING)
        wrong = await house.post("/sessions", {"prompt": "hi"}, traceparent="00-x")
        session = await house.session()
        commands = f"/sessions/{session}/commands"
        receipt = await house.post(commands, {"type": "prompt", "message": prompt}, traceparent=INCOMING)
        await house.service.wait(session, receipt.json()["run_id"])
        named = {"type": "prompt", "message": prompt, "options": {"trace": INCOMING[:-1] + "0"}}
        receipt = await house.post(commands, named, traceparent=INCOMING)
        await house.service.wait(session, receipt.json()["run_id"])
        traces = [await begun(house, one.json()["session_id"]) for one in (made, wrong)]
        traces.append(await begun(house, session))

    assert traces == [[INCOMING], [""], [INCOMING, INCOMING[:-1] + "0"]]


async def test_a_prompt_that_is_sent_again_is_the_same_one_in_whichever_trace(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with opened(home, tmp_path, env, HELLO) as house:
        one = await house.post("/sessions", {"prompt": "hi"}, idempotency_key="k", traceparent=INCOMING)
        two = await house.post("/sessions", {"prompt": "hi"}, idempotency_key="k")

    assert (one.status_code, one.json()) == (200, two.json())


# ---------------------------------------------------------------------------- the checks themselves


async def test_however_many_ask_it_is_looked_once_in_a_while():
    now, looks = 0.0, 0

    async def look() -> None:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0)

    checks = Checks({"store": look}, now=lambda: now)

    await asyncio.gather(*(checks.failing() for _ in range(50)))
    assert looks == 1
    now += KEEP_S / 2
    await checks.failing()
    assert looks == 1
    now += KEEP_S
    await checks.failing()
    assert looks == 2


async def test_a_check_that_hangs_or_breaks_has_failed():
    async def hang() -> None:
        await asyncio.Event().wait()

    async def fail() -> None:
        raise RuntimeError("secret")

    async def work() -> None:
        pass

    named: dict[str, Callable[[], Awaitable[None]]] = {"slow": hang, "broken": fail, "good": work}

    assert await Checks(named, look_s=0.01).failing() == ("slow", "broken")
