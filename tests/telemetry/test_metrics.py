"""The metrics, as a collector and Prometheus get them."""

from prometheus_client.parser import text_string_to_metric_families

from bridle.core.errors import ProviderError
from bridle.telemetry.attributes import NameLimit
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.telemetry.collector import collecting
from tests.telemetry.followed import Followed

CHAT = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "play",
}
AGENT = {"gen_ai.agent.name": "default"}


async def test_what_a_run_did_is_counted():
    late = ProviderError("away", kind="server_overloaded")
    first = says("", call("c1", "look"), call("c2", "change"))
    play = Play([late, first], says("done"), mute=True)
    tools = [SmallTool("look", lambda on: "seen"), SmallTool("change", lambda on: "ok", access="write")]
    async with collecting() as collector:
        followed = Followed(collector, traces=False)
        followed.telemetry.count(lambda: ())
        async with Stage(play, tools=tools, clock=followed.clock, **followed.parts) as stage:
            await stage.run("go", mode="plan")

    found = {name: sorted(points, key=str) for name, points in collector.metrics.items()}
    appends = found.pop("bridle.store.append.duration")
    assert appends[0][1] > 3
    assert found == {
        "gen_ai.client.token.usage": [
            ({**CHAT, "gen_ai.token.type": "input"}, 2),
            ({**CHAT, "gen_ai.token.type": "output"}, 2),
        ],
        "gen_ai.client.operation.duration": sorted(
            [(CHAT, 2), ({**CHAT, "error.type": "server_overloaded"}, 1)], key=str
        ),
        "gen_ai.invoke_agent.duration": [(AGENT, 1)],
        "gen_ai.execute_tool.duration": [
            ({"gen_ai.tool.name": "look", "gen_ai.tool.type": "function", **AGENT}, 1)
        ],
        "bridle.tool.calls": [
            ({"gen_ai.tool.name": "change", "bridle.tool.outcome": "denied"}, 1),
            ({"gen_ai.tool.name": "look", "bridle.tool.outcome": "ok"}, 1),
        ],
        "bridle.runs.started": [(AGENT, 1)],
        "bridle.runs.ended": [({**AGENT, "bridle.run.outcome": "completed"}, 1)],
        "bridle.run.turns": [(AGENT, 1)],
    }
    assert collector.spans == []


async def test_prometheus_can_read_them_and_no_collector_is_needed():
    async with collecting() as collector:
        followed = Followed(collector, traces=False, metrics=False, prometheus=True)
        async with Stage(Play(says("done")), clock=followed.clock, **followed.parts) as stage:
            followed.telemetry.count(stage.service.live)
            followed.telemetry.begin()
            await stage.run("go")
            text = followed.telemetry.metrics_text().decode()

    families = {family.name: family for family in text_string_to_metric_families(text)}
    usage = {
        (sample.name, sample.labels.get("gen_ai_token_type"), sample.labels.get("le")): sample.value
        for sample in families["gen_ai_client_token_usage"].samples
    }
    assert usage["gen_ai_client_token_usage_sum", "input", None] == 10
    assert usage["gen_ai_client_token_usage_bucket", "input", "4.0"] == 0
    assert usage["gen_ai_client_token_usage_bucket", "input", "16.0"] == 1
    [ended] = families["bridle_runs_ended"].samples
    assert (ended.labels, ended.value) == (
        {"gen_ai_agent_name": "default", "bridle_run_outcome": "completed"},
        1.0,
    )
    assert collector.headers == []


async def test_sessions_in_memory_are_counted_by_what_they_do():
    async with collecting() as collector:
        followed = Followed(collector, prometheus=True)
        play = Play(says("done"), hold=True)
        async with Stage(play, clock=followed.clock, **followed.parts) as stage:
            run_id = await stage.prompt("go")
            await play.streaming.wait()
            followed.telemetry.count(stage.service.live)
            await followed.telemetry.aclose()  # which stops the looking
            fresh = Followed(collector, prometheus=True).telemetry
            fresh.count(stage.service.live)
            fresh.begin()
            text = fresh.metrics_text().decode()
            play.go.set()
            await stage.service.wait(stage.session, run_id)
            await fresh.aclose()

    assert 'bridle_sessions{bridle_session_state="running"} 1.0' in text


def test_names_without_end_become_one():
    names = NameLimit(most=2)

    assert [names.of(name) for name in ("a", "b", "c", "a", "d")] == ["a", "b", "other", "a", "other"]
