"""The page in a real browser: login, prompts, approvals, several tabs, restarts, a phone, the keyboard."""

import re

import pytest
from playwright.async_api import Page, expect

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, Decide, RunEnded
from bridle.core.queries import Status
from tests.surfaces.web.stage import PHONE, Stage, words

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

EDIT = {
    "text": "I will write it.",
    "calls": [{"name": "write_file", "args": {"path": "hello.py", "content": "print('hello')\n"}}],
}
DONE = {"text": "It is written."}


def prompt_of(page: Page):
    return page.get_by_role("textbox", name="Prompt")


def approval_of(page: Page):
    return page.get_by_role("group", name="Approval: write_file")


async def ask_for_edit(stage: Stage) -> SessionId:
    """Start a session whose run waits for an approval."""
    stage.script(EDIT, DONE)
    session = await stage.session()
    await stage.prompt(session, "write it")
    await stage.until(session, ApprovalRequested)
    return session


async def test_a_link_logs_in_once(stage: Stage):
    link = stage.link
    page = await (await stage.context()).new_page()
    await page.goto(link)
    await expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    other = await (await stage.context()).new_page()
    stage.forgive("401")

    again = await other.goto(link)
    bare = await other.goto(stage.origin)

    assert page.url == f"{stage.origin}/"
    assert (again.status, bare.status) == (401, 401)
    await expect(other.get_by_text("bridle web")).to_be_visible()


async def test_an_answer_streams_into_two_tabs_and_is_stopped_in_one(stage: Stage):
    stage.script({"text": list(words("word", 400)), "chunk_delay_ms": 40}, {"text": "Again."})
    session = await stage.session()
    page = await stage.open_session(session)
    other = await stage.open_session(session, context=page.context)
    await prompt_of(page).fill("tell me")
    await prompt_of(page).press("Enter")

    for tab in (page, other):
        await expect(tab.locator(".answer[aria-busy=true]")).to_contain_text("word5 ")
        await expect(tab.get_by_role("article", name="You")).to_contain_text("tell me")
    await stage.shoot(page, "answer")
    await other.get_by_role("button", name="Stop").first.click()
    ended = await stage.until(session, RunEnded)
    assert ended.outcome == "cancelled"
    for tab in (page, other):
        await expect(tab.get_by_text("cancelled").first).to_be_visible()
        await expect(tab.locator("[aria-busy=true]")).to_have_count(0)
        await expect(prompt_of(tab)).to_be_enabled()


async def test_an_approval_with_its_diff_is_answered_here_and_gone_in_the_other_tab(stage: Stage):
    session = await ask_for_edit(stage)
    page = await stage.open_session(session)
    other = await stage.open_session(session, context=page.context)
    for tab in (page, other):
        await expect(approval_of(tab)).to_contain_text("print('hello')")
    await stage.shoot(page, "approval")
    await approval_of(page).get_by_role("button", name="Allow", exact=True).click()

    for tab in (page, other):
        await expect(tab.get_by_text("It is written.", exact=True)).to_be_visible()
        await expect(approval_of(tab)).to_have_count(0)
    assert (stage.project / "hello.py").read_text() == "print('hello')\n"


async def test_what_is_answered_elsewhere_disappears_here(stage: Stage):
    session = await ask_for_edit(stage)
    page = await stage.open_session(session)
    await expect(approval_of(page)).to_be_visible()
    await approval_of(page).focus()
    asked = (await stage.service.ask(Status(session))).run.approvals[0]
    await stage.service.submit(session, Decide(asked.call_id, "deny", "not now"))

    await expect(approval_of(page)).to_have_count(0)
    await expect(page.get_by_text("write_file was decided elsewhere")).to_be_visible()
    await expect(page.get_by_role("article", name=re.compile("Call of write_file: denied"))).to_be_visible()


async def test_everything_is_done_with_the_keyboard(stage: Stage):
    stage.script(EDIT, DONE)
    session = await stage.session(title="By keys")
    page = await stage.open("#/")
    link = page.get_by_role("link", name=re.compile("By keys"))
    await expect(link).to_be_visible()
    for _ in range(40):
        if await link.evaluate("link => link === document.activeElement"):
            break
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await expect(prompt_of(page)).to_be_visible()
    for _ in range(40):
        if await prompt_of(page).evaluate("field => field === document.activeElement"):
            break
        await page.keyboard.press("Tab")
    await page.keyboard.type("write it")
    await page.keyboard.press("Enter")
    await expect(approval_of(page)).to_be_visible()
    for _ in range(60):
        if await approval_of(page).evaluate("card => card === document.activeElement"):
            break
        await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("y")

    await expect(page.get_by_text("It is written.", exact=True)).to_be_visible()
    assert await stage.only_session() == session


async def test_a_phone_shows_the_session_without_scrolling_sideways(stage: Stage):
    session = await ask_for_edit(stage)
    page = await stage.open_session(session, viewport=PHONE, has_touch=True, is_mobile=True)
    await expect(approval_of(page)).to_be_visible()
    await stage.shoot(page, "phone")

    async def width() -> int:
        return await page.evaluate("document.documentElement.scrollWidth")

    assert await width() == PHONE["width"]
    await page.get_by_role("button", name="Sessions").tap()
    await expect(page.get_by_role("navigation", name="Sessions")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("navigation", name="Sessions")).to_have_count(0)
    await approval_of(page).get_by_role("button", name="Deny").tap()
    await expect(approval_of(page)).to_have_count(0)
    for view in ("timeline", "replay"):
        await page.goto(f"{stage.origin}/#/s/{session}/{view}")
        await expect(page.get_by_role("heading", name=view.title())).to_be_attached()
        assert await width() == PHONE["width"]


async def test_a_restart_of_the_daemon_is_told_and_the_page_goes_on(stage: Stage):
    stage.forgive("Failed to load resource", "ERR_CONNECTION_REFUSED", "net::ERR")
    session = await stage.session("first")
    page = await stage.open_session(session)
    await expect(page.get_by_role("article", name="Answer")).to_have_count(1)
    await prompt_of(page).fill("half a sente")
    await stage.stop()
    await expect(page.get_by_text("Reconnecting…")).to_be_visible()
    await stage.start()
    await stage.run(session, "second")

    await expect(page.get_by_role("article", name="Answer")).to_have_count(2)
    await expect(page.get_by_text("Reconnecting…")).to_have_count(0)
    await expect(prompt_of(page)).to_have_value("half a sente")


async def test_a_login_that_has_run_out_keeps_what_was_typed(stage: Stage):
    stage.forgive("Failed to load resource", "401")
    session = await stage.session("first")
    page = await stage.open_session(session)
    await prompt_of(page).fill("an important thought")
    await page.context.clear_cookies()
    await prompt_of(page).press("Enter")

    await expect(page.get_by_role("alert").filter(has_text="bridle web")).to_be_visible()
    await expect(prompt_of(page)).to_have_value("an important thought")
    await (await page.context.new_page()).goto(stage.link)
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_role("alert").filter(has_text="bridle web")).to_have_count(0)
    await prompt_of(page).press("Enter")
    await expect(page.get_by_role("article", name="You")).to_have_count(2)
