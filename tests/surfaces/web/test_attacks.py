"""Hostile texts in the page: text from a model, a tool, a file or an error is shown and never runs."""

import pytest
from playwright.async_api import Page, expect

from bridle.core.protocol import ApprovalRequested
from tests.surfaces.web.payloads import PAYLOADS
from tests.surfaces.web.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

ALL = "\n\n".join(PAYLOADS)
ELEMENTS = (
    "script:not([src]):not([type=importmap]), iframe, object, embed, form[action], meta[http-equiv], base"
)
HANDLERS = "[onerror], [onload], [onfocus], [onclick], [ontoggle], [onbegin], [onstart]"


async def check(page: Page) -> None:
    """Nothing has run, and nothing is there that could."""
    await page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    body = page.locator("#app")
    for link in await body.locator("a").all():
        address = await link.get_attribute("href")
        assert address is None or address.startswith(("#/", "http:", "https:", "mailto:")), address
    assert await page.evaluate("window.pwned") is None
    assert await body.locator(f"{ELEMENTS}, {HANDLERS}, [style*=url], #location, #document").count() == 0
    assert await body.locator("img:not([src^='data:image/'])").count() == 0
    assert (await page.title()).endswith("Bridle")


async def test_what_a_model_says_and_thinks_never_runs(stage: Stage):
    stage.script({"text": ALL}, {"reasoning": ALL, "text": "I thought."})
    session = await stage.session(ALL, "think")
    page = await stage.open_session(session)
    await expect(page.get_by_role("article", name="Answer").first).to_contain_text("onerror=window.pwned=1")
    await page.get_by_role("button", name="Thought").click()
    await expect(page.get_by_role("article", name="Thought")).to_contain_text("</textarea>")

    await check(page)
    assert "\u202e" not in await page.inner_text("#app")


async def test_what_a_model_says_never_runs_while_it_is_written(stage: Stage):
    halves = [
        piece
        for payload in PAYLOADS
        for piece in (payload[: len(payload) // 2], payload[len(payload) // 2 :], "\n\n")
    ]
    stage.script({"text": halves, "chunk_delay_ms": 5}, {"text": "x"})
    session = await stage.session()
    page = await stage.open_session(session)
    await stage.run(session, "go")
    await expect(page.get_by_role("article", name="Answer")).to_contain_text("</textarea>")

    await check(page)


async def test_what_tools_get_print_and_change_never_runs(stage: Stage):
    hostile = stage.project / "out.txt"
    hostile.write_text(ALL)
    name = "<img src=x onerror=window.pwned=1>.py"
    stage.script(
        {
            "text": "Look.",
            "calls": [
                {"name": "bash", "args": {"command": "cat out.txt"}},
                {"name": "write_file", "args": {"path": name, "content": ALL}},
                {"name": "<svg onload=window.pwned=1>", "args": {"<b>": ALL}},
            ],
        },
        {"fault": {"kind": "http", "reason": "invalid_request", "message": ALL[:4000]}},
    )
    session = await stage.session(title=PAYLOADS[3])
    await stage.run(session, "go", mode="yolo")
    page = await stage.open_session(session)
    await expect(page.get_by_role("article").filter(has_text="bash").first).to_be_visible()
    for fold in await page.locator(".call > button[aria-expanded=false]").all():
        await fold.click()
    await expect(page.get_by_label("Output").first).to_contain_text("window.pwned=1")

    await check(page)
    for view in ("timeline", "replay"):
        await page.goto(f"{stage.origin}/#/s/{session}/{view}")
        await expect(page.get_by_role("heading", name=view.title())).to_be_attached()
        await page.wait_for_load_state("networkidle")
        await check(page)
    await page.goto(f"{stage.origin}/#/dashboard")
    await expect(page.get_by_role("heading", name="Tools")).to_be_visible()
    await check(page)


async def test_what_is_to_be_approved_never_runs(stage: Stage):
    (stage.project / "old.py").write_text(ALL.replace("\0", ""))
    call = {"name": "write_file", "args": {"path": "old.py", "content": "\n".join(PAYLOADS[::-1])}}
    look = {"name": "read_file", "args": {"path": "old.py"}}
    stage.script({"text": "x", "calls": [look]}, {"text": "y", "calls": [call]}, {"text": "z"})
    session = await stage.session()
    await stage.prompt(session, "go")
    await stage.until(session, ApprovalRequested)
    page = await stage.open_session(session)
    await expect(page.get_by_role("group", name="Approval: write_file")).to_contain_text("window.pwned=1")

    await check(page)
