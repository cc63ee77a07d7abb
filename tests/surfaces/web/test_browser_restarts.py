"""The page after a restart of the daemon: nothing is missing or outdated."""

import pytest
from playwright.async_api import expect

from bridle.core.protocol import ToolStarted
from tests.surfaces.web.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def test_what_came_with_the_last_breath_of_the_daemon_is_shown(stage: Stage):
    stage.forgive("Failed to load resource", "ERR_CONNECTION_REFUSED", "net::ERR")
    session = await stage.session("first")
    page = await stage.open_session(session)
    await expect(page.get_by_role("article", name="Answer")).to_have_count(1)
    await stage.run(session, "second")
    await stage.stop()
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await stage.start()

    await expect(page.get_by_text("Reconnecting…")).to_have_count(0)
    await expect(page.get_by_role("article", name="Answer")).to_have_count(2)


async def test_a_session_that_ended_with_the_daemon_does_not_run_in_the_list(stage: Stage):
    stage.forgive("Failed to load resource", "ERR_CONNECTION_REFUSED", "net::ERR")
    stage.script({"text": "", "calls": [{"name": "bash", "args": {"command": "sleep 60"}}]})
    other = await stage.session(title="elsewhere")
    page = await stage.open_session(await stage.session(title="here"))
    await stage.prompt(other, "wait", mode="yolo")
    await stage.until(other, ToolStarted)
    row = page.get_by_role("link").filter(has_text="elsewhere")
    await expect(row).to_contain_text("runs")
    await stage.stop()
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await stage.start()

    await expect(page.get_by_text("Reconnecting…")).to_have_count(0)
    await expect(row).not_to_contain_text("runs")
