"""The exported page in a real browser: it shows everything and requests nothing."""

from pathlib import Path

import pytest

from bridle.surfaces.shared.export import to_html
from tests.surfaces.shared.export.test_html_page import HOSTILE, events_with
from tests.surfaces.web.stage import chromium


@pytest.mark.slow
async def test_a_browser_shows_it_and_asks_for_nothing(tmp_path: Path):
    path = tmp_path / "talk.html"
    path.write_text(
        to_html(events_with(f"{HOSTILE} ![x](http://127.0.0.1:9/x.png) [y](http://127.0.0.1:9/)"))
    )
    asked: list[str] = []
    said: list[str] = []

    async with chromium() as browser:
        page = await browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        await page.goto(path.as_uri(), wait_until="networkidle")
        background = await page.evaluate("getComputedStyle(document.querySelector('.said')).backgroundColor")
        text = await page.inner_text("main")

    assert asked == [path.as_uri()]
    assert said == []
    assert background == "rgb(238, 245, 251)"
    assert "<script>alert(1)</script>" in text
