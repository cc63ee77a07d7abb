"""Actions in a session besides sending a prompt: typing, queue, rules, rewind, fork."""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalDecided, ApprovalRequested, MessageAdded, Rename, RunEnded
from bridle.core.queries import ListSessions, Records
from tests.surfaces.web.stage import Stage, eventually, words

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

EDIT = {"name": "edit_file", "args": {"path": "a.py", "old_str": "x = 1", "new_str": "x = 2"}}
READ = {"name": "read_file", "args": {"path": "a.py"}}
PASTE = """([field, text]) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const kind = { clipboardData: data, bubbles: true, cancelable: true };
    field.dispatchEvent(new ClipboardEvent("paste", kind));
}"""


def prompt_of(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Prompt")


async def messages(stage: Stage, session: SessionId) -> list[str]:
    """Return what users have said in a session."""
    records = await stage.service.ask(Records(session))
    return [
        record.event.message.text
        for record in records
        if isinstance(record.event, MessageAdded) and record.event.message.role == "user"
    ]


async def test_files_and_long_texts_are_named_while_typing(stage: Stage):
    (stage.project / "apple.py").write_text("")
    session = await stage.session()
    page = await stage.open_session(session)
    await prompt_of(page).press_sequentially("look at @app")
    await expect(page.get_by_role("option", name="apple.py")).to_be_visible()
    await prompt_of(page).press("Tab")
    await expect(prompt_of(page)).to_have_value("look at @apple.py ")
    field = await prompt_of(page).element_handle()
    await page.evaluate(PASTE, [field, "long line\n" * 50])
    await expect(page.get_by_role("list", name="Attached")).to_contain_text("pasted text 1")
    await prompt_of(page).press("Enter")

    await stage.until(session, RunEnded)
    assert await messages(stage, session) == ["look at @apple.py\n\n[pasted text 1]\n" + "long line\n" * 50]
    await expect(prompt_of(page)).to_have_value("")
    await expect(page.get_by_role("list", name="Attached")).to_have_count(0)
    await prompt_of(page).press("ArrowUp")
    await expect(prompt_of(page)).to_have_value("look at @apple.py")


async def test_a_skill_and_a_shell_command_are_run_and_an_unknown_skill_stays_typed(stage: Stage, home: Path):
    stage.forgive("400 (Bad Request)")
    skills = home / "skills" / "greet"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_text("---\nname: greet\ndescription: Greets\n---\nGreet $ARGUMENTS.\n")
    session = await stage.session()
    page = await stage.open_session(session)
    await prompt_of(page).fill("/nobody has this")
    await prompt_of(page).press("Enter")
    await expect(page.get_by_text("no skill is named nobody")).to_be_visible()
    await expect(prompt_of(page)).to_have_value("/nobody has this")
    await prompt_of(page).fill("!echo from the shell")
    await prompt_of(page).press("Enter")

    await expect(page.get_by_role("article", name="Call of bash: done")).to_contain_text("from the shell")
    await stage.until(session, RunEnded)
    await prompt_of(page).press_sequentially("/gre")
    await expect(page.get_by_role("option", name="/greet")).to_contain_text("Greets")
    await prompt_of(page).press("Enter")
    await prompt_of(page).press_sequentially("the whole world")
    await prompt_of(page).press("Enter")

    await stage.until(session, RunEnded, 2)
    shell, skill = await messages(stage, session)
    assert shell == "echo from the shell"
    assert "Greet the whole world." in skill


async def test_what_waits_is_edited_in_one_tab_and_steered_from_another(stage: Stage):
    stage.script({"text": list(words("word", 400)), "chunk_delay_ms": 50})
    await stage.stop()
    await stage.start()
    session = await stage.session()
    page = await stage.open_session(session)
    other = await stage.open_session(session, context=page.context)
    await prompt_of(page).fill("begin")
    await prompt_of(page).press("Enter")
    await expect(page.get_by_role("button", name="Queue")).to_be_visible()
    await prompt_of(page).fill("afterwards")
    await prompt_of(page).press("Enter")
    waiting = other.locator(".queued")
    await expect(waiting).to_contain_text("afterwards")
    await waiting.get_by_role("button", name="Edit").click()
    await other.get_by_role("textbox", name="Prompt").last.fill("better so")
    await other.get_by_role("button", name="Save").click()
    await expect(page.locator(".queued")).to_contain_text("better so")
    await page.get_by_role("button", name="Steer now").click()

    await expect(waiting).to_contain_text("at the next turn")
    await waiting.get_by_role("button", name="Remove from the queue").click()
    await expect(page.locator(".queued")).to_have_count(0)
    await page.get_by_role("button", name="Stop").click()
    ended = await stage.until(session, RunEnded)
    assert ended.outcome == "cancelled"
    await expect(other.locator(".run-line")).to_contain_text("cancelled")


async def test_a_rule_is_edited_and_the_title_changes_elsewhere(stage: Stage):
    call = {"name": "bash", "args": {"command": "touch made"}}
    stage.script({"text": "I make it.", "calls": [call]}, {"text": "Made."})
    session = await stage.session()
    await stage.prompt(session, "make it")
    await stage.until(session, ApprovalRequested)
    page = await stage.open_session(session)
    card = page.get_by_role("group", name="Approval: bash")
    await card.focus()
    await card.press("e")
    rules = card.get_by_role("textbox", name=re.compile("Rules"))
    await rules.fill("bash(touch made)\n\n")
    await rules.press("y")  # a letter in a field is no answer
    await rules.fill("bash(touch made)\n\n")
    await card.get_by_role("button", name="Allow for the session").click()
    decided = await stage.until(session, ApprovalDecided)
    await stage.service.submit(session, Rename("Another <i>name</i>"))

    assert (decided.answer, decided.rules) == ("session", ("bash(touch made)",))
    await expect(page.get_by_role("heading", level=1)).to_have_text("Another <i>name</i>")
    await expect(page.get_by_role("navigation", name="Sessions")).to_contain_text("Another <i>name</i>")


async def test_going_back_shows_what_it_takes_back_and_a_fork_goes_its_own_way(stage: Stage):
    (stage.project / "a.py").write_text("x = 1\n")
    stage.script(
        {"text": "I look.", "calls": [READ]}, {"text": "I edit.", "calls": [EDIT]}, {"text": "Done."}
    )
    session = await stage.session(title="Back and forth")
    await stage.run(session, "edit it", mode="accept-edits")
    page = await stage.open_session(session)
    await expect(page.get_by_role("article", name="You")).to_be_visible()
    assert (stage.project / "a.py").read_text() == "x = 2\n"
    await page.get_by_role("button", name="More about this session").click()
    await page.get_by_role("menuitem", name="Fork").click()
    await expect(page).not_to_have_url(re.compile(session))
    await expect(page.get_by_role("article", name="Before the fork")).to_contain_text("edit it")
    await page.goto(f"{stage.origin}/#/s/{session}")
    await page.get_by_role("article", name="You").hover()
    await page.get_by_role("button", name="Rewind").click()
    dialog = page.get_by_role("dialog", name="Rewind")
    await expect(dialog).to_contain_text("x = 2")
    await dialog.get_by_role("button", name="Rewind").click()

    await expect(page.get_by_role("article", name="You")).to_have_count(0)
    await expect(prompt_of(page)).to_have_value("edit it")
    assert (stage.project / "a.py").read_text() == "x = 1\n"
    assert len(await eventually(lambda: stage.service.ask(ListSessions()))) == 2
