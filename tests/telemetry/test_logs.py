"""The log goes to the collector, and each line of a run into the run's trace."""

import logging

from bridle.telemetry.exporter import MAX_LINE_CHARS
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.telemetry.collector import collecting
from tests.telemetry.followed import Followed

log = logging.getLogger("bridle.test")


async def test_lines_of_a_run_have_its_trace_and_others_none():
    def note(on: str) -> str:
        log.warning("in a run: %s", "hush")
        return "ok"

    async with collecting() as collector:
        followed = Followed(collector, logs=True, mask=lambda text: text.replace("hush", "***"))
        log.error("outside")
        logging.getLogger("else").error("of others")
        play = Play(says("", call("c1", "note")), says("ok"))
        tools = [SmallTool("note", note)]
        async with Stage(play, tools=tools, clock=followed.clock, **followed.parts) as stage:
            await stage.run("go")
        log.warning("too late")

    [run] = collector.named("invoke_agent default")
    assert collector.logs == [("outside", "", ""), ("in a run: ***", run.trace_id, run.span_id)]


async def test_a_secret_at_the_end_of_a_line_that_is_cut_is_masked_whole():
    async with collecting() as collector:
        followed = Followed(collector, logs=True, mask=lambda text: text.replace("hush", "*"))
        log.error("%shush", "x" * (MAX_LINE_CHARS - 2))
        await followed.telemetry.aclose()

    [(text, _, _)] = collector.logs
    assert text == "x" * (MAX_LINE_CHARS - 2) + "*"


async def test_an_error_is_told_with_where_it_was_raised():
    async with collecting() as collector:
        followed = Followed(collector, logs=True)
        try:
            raise ValueError("broken")
        except ValueError:
            log.exception("failed")
        await followed.telemetry.aclose()

    [(text, _, _)] = collector.logs
    assert text.splitlines()[0] == "failed"
    assert text.splitlines()[-1] == "ValueError: broken"
