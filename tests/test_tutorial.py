"""docs/tutorial.md, followed to the letter: typed into a shell on a terminal, in an empty home.

```
the page ─▶ commands ─▶ bash on a terminal ─▶ what it shows, compared with the page
              ├─ [press y]                      a key, once the text before it is on the screen
              └─ [open the link in a browser]   Chromium opens the link that the command printed
```
"""

import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.async_api import Browser, expect

from tests.host_network import addresses_stay
from tests.providers.llama.conftest import weights
from tests.surfaces.command import Terminal
from tests.surfaces.web.conftest import browser
from tests.test_docs import EXIT, FENCE, matches

__all__ = ["browser", "weights"]

PAGE = Path(__file__).parents[1] / "docs" / "tutorial.md"
PATIENCE_S = 60.0
INSTALLED = "BRIDLE_TUTORIAL_BIN"
"""Names a folder of programs to follow the page with: `make dist` tries what it has installed."""
PROMPT = re.compile(r"@shell (\d+)@ ")
PRESS = re.compile(r"\[press (\w+)\]")
OPEN = "[open the link in a browser]"
KEYS = {"Enter": "\n"}
ANYTHING = "..."


class Typed(NamedTuple):
    """One command of the page, and what it must show."""

    text: str
    shown: list[str]
    status: int
    opens_link: bool


class Step(NamedTuple):
    """The content below one heading."""

    title: str
    typed: list[Typed]
    text: str


def steps(page: str) -> list[Step]:
    """Split the page at its headings."""
    parts = re.split(r"^## (.*)$", page, flags=re.MULTILINE)
    return [
        Step(title, list(commands(text)), text) for title, text in zip(parts[1::2], parts[2::2], strict=True)
    ]


def commands(text: str) -> Iterator[Typed]:
    """Yield the commands of the console blocks."""
    for block in FENCE.finditer(text):
        if block["info"].strip() == "console":
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                yield command(part.splitlines())


def command(lines: list[str]) -> Typed:
    """Read one command: its first line, the lines that continue it, and what it shows."""
    typed, shown = [lines[0]], lines[1:]
    while shown and "[press" not in shown[0] and (shown[0] == ">" or shown[0].startswith("> ")):
        typed.append(shown.pop(0)[2:])
    status = EXIT.fullmatch(shown[-1]) if shown else None
    opens_link = OPEN in shown
    kept = [line for line in shown if line != OPEN and not EXIT.fullmatch(line)]
    return Typed("\n".join(typed), kept, int(status[1]) if status else 0, opens_link)


class Shell(Terminal):
    """A shell on a terminal; its prompt says how the last command ended."""

    def __init__(self, folder: Path, env: dict[str, str], patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        told = env | {"PS1": "@shell $?@ ", "PS2": "", "TERM": "dumb"}
        super().__init__(["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"], folder, told, width=200)
        self._wait(PROMPT)

    def follow(self, typed: Typed) -> str:
        """Type a command, press what the page says, and return what was shown; compares it with the page."""
        self.send(f"{typed.text}\n")
        self._wait(re.compile(re.escape(f"{typed.text}\n")))
        begun = self._seen
        for place, line in enumerate(typed.shown):
            for key in PRESS.finditer(line):
                before = typed.shown[place - 1 : place] if place else []
                self._wait(pattern([*before, line[: key.start()]]))
                self.send(KEYS.get(key[1], key[1]))
        ended = self._wait(PROMPT)
        output = self.screen[begun : ended.start()]
        assert int(ended[1]) == typed.status, f"$ {typed.text}\n{output}"
        wanted = [PRESS.sub("", line) for line in typed.shown]
        if wanted:
            assert matches(wanted, output.splitlines()), f"$ {typed.text}\n{output}"
        return output

    def _wait(self, wanted: re.Pattern[str]) -> re.Match[str]:
        """Wait for a text behind what was waited for before."""
        deadline = time.monotonic() + self._patience_s
        while not (found := wanted.search(self.screen, self._seen)):
            assert self._read(deadline), f"{wanted.pattern!r} did not come:\n{self.screen}"
        self._seen = found.end()
        return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """Return what lines of the page look like on the screen, the last one not ended yet."""
    kept = [line for line in lines if line.strip() != ANYTHING]
    return re.compile("\n".join(".*?".join(map(re.escape, line.split(ANYTHING))) for line in kept))


@pytest.fixture
def person(tmp_path: Path, env: dict[str, str], weights: Path) -> dict[str, str]:
    """Return the environment of a person with an empty home, into which the weights were pulled already."""
    home = tmp_path / "person"
    models = home / ".bridle" / "models"
    models.mkdir(parents=True)
    (models / weights.name).symlink_to(weights)
    path = os.pathsep.join(filter(None, [os.environ.get(INSTALLED), env["PATH"]]))
    kept = {name: value for name, value in env.items() if name != "BRIDLE_HOME"}
    return kept | {"HOME": str(home), "PATH": path}


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="session")
async def test_every_step_does_what_the_page_shows(person: dict[str, str], browser: Browser):
    followed = []
    try:
        with Shell(Path(person["HOME"]), person) as shell:
            for step in steps(PAGE.read_text()):
                for typed in step.typed:
                    output = shell.follow(typed)
                    if typed.opens_link:
                        await look(browser, output.strip(), step.text)
                followed.append(step.title)
    finally:
        subprocess.run(["bridle", "daemon", "stop"], env=person, capture_output=True, check=False)

    assert [title.partition(".")[0] for title in followed] == [*map(str, range(1, 9)), "From here"]


async def look(browser: Browser, link: str, text: str) -> None:
    """Do in the browser what the step says: click on what is bold, type what is set as code."""
    (session,) = re.findall(r"Click on \*\*(.*?)\*\*", text)
    (prompt,) = re.findall(r"Type `(.*?)`", text)
    with addresses_stay():
        context = await browser.new_context()
        try:
            page = await context.new_page()
            await page.goto(link)
            await page.get_by_role("navigation", name="Sessions").get_by_text(session, exact=True).click()
            await expect(page.get_by_text('+print("hello, world")').first).to_be_visible()
            await page.get_by_role("textbox", name="Prompt").fill(prompt)
            await page.get_by_role("textbox", name="Prompt").press("Enter")
            await expect(page.get_by_text(f"You said: {prompt}").last).to_be_visible()
        finally:
            await context.close()


FALSE_PAGES = {
    "another output": "$ echo one\ntwo\n",
    "another exit code": "$ false\n",
    "a key that nobody asks for": "$ echo one\nmore? [press y]\n",
    "another answer to a key": "$ read -n1 -p '? ' key; echo \" $key\"\n? [press y]n\n",
}


@pytest.mark.parametrize("body", FALSE_PAGES.values(), ids=FALSE_PAGES)
def test_a_false_page_is_noticed(body: str, tmp_path: Path, env: dict[str, str]):
    (typed,) = commands(f"```console\n{body}```\n")

    with Shell(tmp_path, env, patience_s=3.0) as shell, pytest.raises(AssertionError):
        shell.follow(typed)


def test_a_true_page_passes(tmp_path: Path, env: dict[str, str]):
    long, asking = (
        "$ cat <<END\n> a\n>\n> c\n> END\na\n\nc\n",
        "$ read -n1 -p '? ' key; echo \" $key\"\n? [press y]y y\n",
    )
    body = f"{long}{asking}$ (exit 3)\n[exit 3]\n"

    with Shell(tmp_path, env) as shell:
        shown = [shell.follow(typed) for typed in commands(f"```console\n{body}```\n")]

    assert shown == ["a\n\nc\n", "? y y\n", ""]


def test_the_page_is_short():
    assert len(PAGE.read_text().splitlines()) < 250
