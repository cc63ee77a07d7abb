"""A session of 100,000 records in a real browser: only the visible part is loaded."""

import re

import pytest
from playwright.async_api import Page, expect

from tests.surfaces.web.long import RECORDS_OF_A_RUN, write_long_session
from tests.surfaces.web.stage import Stage, eventually

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]


async def test_a_session_of_100_000_records_is_read_and_replayed_without_loading_all_of_it(stage: Stage):
    session = await stage.session(title="Long")
    seq = await write_long_session(stage.store, session)
    last = (seq - 1) // RECORDS_OF_A_RUN - 1
    page = await stage.open("#/")
    await expect(page.get_by_role("link", name=re.compile("Long"))).to_be_visible()

    before, asked = stage.bytes, len(stage.asked)
    await page.goto(f"{stage.origin}/#/s/{session}")
    await expect(page.get_by_text(f"Run {last}, step 50.")).to_be_visible()
    assert seq >= 100_000
    assert (stage.bytes - before < 1_000_000, len(stage.asked) - asked < 12) == (True, True)
    await page.get_by_role("region", name="Conversation").hover()
    for step in (40, 30, 20):
        await eventually(lambda step=step: _scrolls_to(page, f"Run {last}, step {step}."))
        assert await page.locator(".row").count() < 100

    before, asked = stage.bytes, len(stage.asked)
    await page.goto(f"{stage.origin}/#/s/{session}/replay")
    slider = page.get_by_role("slider", name="Record")
    await expect(slider).to_have_attribute("max", str(seq))
    await slider.fill("50000")
    talk = page.get_by_role("region", name="The conversation then")
    await expect(talk).to_contain_text(f"Run {50_000 // RECORDS_OF_A_RUN}, step")
    assert (stage.bytes - before < 2_000_000, len(stage.asked) - asked < 30) == (True, True)


async def _scrolls_to(page: Page, text: str) -> bool:
    await page.mouse.wheel(0, -600)
    return await page.get_by_text(text).is_visible()
