"""The dashboard, the timeline and the replay in a real browser, and their accessibility."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested
from bridle.core.queries import Records, Status
from tests.surfaces.web.stage import DESK, Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

AXE = Path(__file__).parents[3] / ".venv/node/node_modules/axe-core/axe.min.js"
WRITES = {
    "reasoning": "First the file, then a look at it.",
    "text": "I write two files.",
    "calls": [
        {"name": "write_file", "args": {"path": "one.py", "content": "one = 1\n"}},
        {"name": "write_file", "args": {"path": "two.py", "content": "two = 2\n"}},
    ],
}
LOOKS = {"text": "Now I look.", "calls": [{"name": "bash", "args": {"command": "cat one.py; sleep 0.1"}}]}
ENDS = {"text": "Both files are **there**:\n\n```python\none = 1\n```\n"}
PRICE = {"input": 3.0, "output": 15.0}


async def play(stage: Stage) -> SessionId:
    """Run a session that writes two files."""
    stage.script(WRITES, LOOKS, ENDS, price=PRICE)
    session = await stage.session(title="Two files")
    await stage.run(session, "write two files", mode="yolo")
    return session


async def test_the_dashboard_says_what_was_used_and_keeps_up(stage: Stage):
    page = await stage.open("#/dashboard")
    await expect(page.get_by_text("No usage in this period.")).to_be_visible()
    session = await play(stage)

    totals = page.locator(".totals")
    await expect(totals).to_contain_text("1 completed")
    await expect(totals).to_contain_text("3 turns")
    tools = page.get_by_role("table", name="Tools")
    await expect(tools.get_by_role("row", name=re.compile("^write_file 2 0 0"))).to_be_visible()
    await expect(
        page.get_by_role("table", name="Sessions").get_by_role("link", name="Two files")
    ).to_be_visible()
    await expect(page.locator(".plot-place canvas")).to_have_count(2)
    await page.get_by_text("Tokens over time as a table").click()
    await expect(page.get_by_role("table", name="Tokens over time").get_by_role("row")).to_have_count(2)
    await stage.shoot(page, "dashboard")
    stage.script({"text": "Free."}, price=None)
    await page.get_by_role("button", name="All time").click()
    await stage.run(session, "no price")
    await expect(totals).to_contain_text("1 request of unknown price")


async def test_the_timeline_shows_who_was_at_work_when(stage: Stage):
    session = await play(stage)
    page = await stage.open_session(session, "/timeline")
    chart = page.get_by_role("application", name=re.compile("Flame chart"))
    await expect(chart).to_be_visible()
    details = page.locator(".flame-details")
    await chart.focus()
    await page.keyboard.press("End")
    await expect(details).to_contain_text(re.compile("model|turns"))
    await page.keyboard.press("Enter")
    await page.keyboard.press("0")
    await chart.hover()
    await page.mouse.wheel(0, 300)
    await stage.shoot(page, "timeline")

    await page.get_by_text("Spans as a table").click()
    table = page.get_by_role("table", name="Spans")
    await expect(table.get_by_role("row", name=re.compile("bash"))).to_be_visible()
    await page.get_by_text("Context window as a table").click()
    context = page.get_by_role("table", name=re.compile("context window"))
    await expect(context.get_by_role("row")).to_have_count(4)


async def test_the_replay_goes_through_records_and_files(stage: Stage):
    session = await play(stage)
    last = (await stage.service.ask(Status(session))).seq
    page = await stage.open_session(session, "/replay")
    slider = page.get_by_role("slider", name="Record")
    talk = page.get_by_role("region", name="The conversation then")
    files = page.get_by_role("complementary", name="The files then")
    await expect(slider).to_have_value(str(last))
    await expect(talk).to_contain_text("Both files are there")
    await expect(files).to_contain_text("2 files changed")
    await stage.shoot(page, "replay")
    await slider.focus()
    await page.keyboard.press("Home")

    await expect(slider).to_have_value("1")
    await expect(talk).to_contain_text("No messages yet.")
    await expect(files).to_contain_text("No files changed yet.")
    changed = [
        record.seq
        for record in await stage.service.ask(Records(session))
        if "FilesChanged" in repr(record.event)
    ]
    await slider.fill(str(changed[0]))
    await expect(files).to_contain_text("1 file changed")
    await expect(files).to_contain_text("one = 1")
    await expect(talk).to_contain_text("I write two files.")
    await expect(talk).not_to_contain_text("Now I look.")
    await page.get_by_role("button", name="This record").click()
    await expect(files).to_contain_text("one = 1")
    await slider.focus()
    await page.keyboard.press("ArrowRight")
    await expect(slider).to_have_value(str(changed[0] + 1))
    await page.get_by_label("Speed").select_option("20")
    await page.get_by_role("button", name="Play").click()
    await expect(slider).to_have_value(str(last))
    await expect(page.get_by_role("button", name="Play")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everybody_can_use_the_page(stage: Stage, scheme: Any):
    session = await play(stage)
    write = {"name": "write_file", "args": {"path": "three.py", "content": "three = 3\n"}}
    stage.script({"text": "One more.", "calls": [write]}, ENDS)
    waiting = await stage.session(title="Waiting")
    await stage.prompt(waiting, "go")
    await stage.until(waiting, ApprovalRequested)
    page = await stage.open_session(session, color_scheme=scheme, viewport=DESK)
    views = {
        f"#/s/{session}": page.get_by_role("article", name="Answer").last,
        f"#/s/{waiting}": page.get_by_role("group", name=re.compile("Approval")).first,
        "#/dashboard": page.locator(".plot-place canvas").first,
        f"#/s/{session}/timeline": page.get_by_role("application"),
        f"#/s/{session}/replay": page.get_by_role("slider", name="Record"),
    }
    found = {}
    for view, sign in views.items():
        await page.goto(f"{stage.origin}/{view}")
        await expect(sign).to_be_visible()
        await stage.shoot(page, f"{scheme}-{list(views).index(view)}")
        found[view] = await findings(page)

    assert found == {view: [] for view in views}


async def findings(page: Page) -> list[str]:
    """Return what axe finds that is serious or worse; it comes from outside, where no policy holds."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE.read_text())
    result = await page.evaluate("axe.run({resultTypes: ['violations']})")
    return [
        f"{one['id']}: {node['html'][:200]} {node['any'][0]['message'] if node['any'] else ''}"
        for one in result["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]
