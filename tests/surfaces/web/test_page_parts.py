"""The modules of the page that contain logic, each tested in a real browser."""

import os
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.surfaces.web.stage import Stage

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.slow]

DIFF = """diff --git a/one.py b/one.py
--- a/one.py
+++ b/one.py
@@ -1,4 +1,3 @@
 same
--- a flag
-old
+new
 end
\\ No newline at end of file
--- /dev/null
+++ b/two.py
@@ -0,0 +1 @@
+++ added
"""

MARKDOWN = """# Title

A paragraph
of two lines.

- one
- two

  still two

```python
x = 1

y = 2
```

| a | b |
|---|---|
| 1 | 2 |

The end."""


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Page]:
    """Yield one page for all: what is asked here changes nothing in it."""
    folder = tmp_path_factory.mktemp("parts")
    home = folder / "home"
    home.mkdir()
    env = {"BRIDLE_HOME": str(home), "HOME": str(folder), "PATH": os.environ["PATH"]}
    stage = Stage(browser, home, env, folder)
    stage.script({"text": "Hello."})
    await stage.start()
    try:
        yield await stage.open()
    finally:
        await stage.aclose()


async def call(page: Page, module: str, expression: str, *args: Any) -> Any:
    """Return what an expression gives that uses a module as `m` and arguments as `a`."""
    code = f"async (a) => {{ const m = await import('bridle/{module}'); return {expression}; }}"
    return await page.evaluate(code, list(args))


async def test_texts_of_others_are_made_harmless_and_numbers_readable(page: Page):
    hidden = "a\x00b\x1b[31m\u202ec\u200b\ufeff\U000e0041\td\r\ne\U0001f468\u200d\U0001f469"

    assert await call(page, "words.js", "m.visible(a[0])", hidden) == (
        "a\\x00b\\x1b[31m\\u202ec\\u200b\\ufeff\\u{e0041}\td\ne\U0001f468\u200d\U0001f469"
    )
    assert await call(page, "words.js", "m.oneLine(a[0], 8)", " one\n\ttwo three ") == "one two…"
    assert len(await call(page, "words.js", "m.oneLine(a[0])", "x" * 1_000_000)) == 300
    assert await call(page, "words.js", "a.map(m.count)", 999, 1_000, 12_340, 999_960, 1_234_567) == [
        "999",
        "1k",
        "12.3k",
        "1M",
        "1.2M",
    ]
    assert await call(page, "words.js", "a.map(m.cost)", None, 0, 0.0042, 1.5) == [
        "price unknown",
        "$0",
        "$0.0042",
        "$1.50",
    ]
    assert await call(page, "words.js", "a.map(m.duration)", 40, 4_200, 185_000, 7_400_000) == [
        "40 ms",
        "4.2 s",
        "3 min 5 s",
        "2 h 3 min",
    ]
    assert await call(page, "words.js", "m.shortPath(a[0])", "/home/me/project/src") == "…/project/src"


async def test_addresses_in_the_page_are_read(page: Page):
    session = {"view": "session", "session": "a/b"}
    home = {"view": "home", "session": None}

    read = await call(
        page, "route.js", "a.map(m.read)", "#/s/a%2Fb", "#/s/a%2Fb/replay", "#/s/%E0", "#/x", ""
    )

    assert read == [session, {**session, "view": "replay"}, home, home, home]


async def test_a_diff_is_read_line_by_line_and_paired(page: Page):

    files = await call(page, "diff.js", "m.readDiff(a[0])", DIFF)
    rows = await call(page, "diff.js", "m.pairs(m.readDiff(a[0])[0].lines.slice(1))", DIFF)

    assert files == [
        {
            "path": "one.py",
            "lines": [
                {"kind": "hunk", "text": "@@ -1,4 +1,3 @@"},
                {"kind": "same", "text": "same", "old": 1, "now": 1},
                {"kind": "removed", "text": "-- a flag", "old": 2},
                {"kind": "removed", "text": "old", "old": 3},
                {"kind": "added", "text": "new", "now": 2},
                {"kind": "same", "text": "end", "old": 4, "now": 3},
                {"kind": "note", "text": "\\ No newline at end of file"},
            ],
        },
        {
            "path": "two.py",
            "lines": [
                {"kind": "hunk", "text": "@@ -0,0 +1 @@"},
                {"kind": "added", "text": "++ added", "now": 1},
            ],
        },
    ]
    sides = [[row[side] and row[side]["text"] for side in ("left", "right")] for row in rows]
    note = "\\ No newline at end of file"
    assert sides == [["same", "same"], ["-- a flag", "new"], ["old", None], ["end", "end"], [note, note]]
    assert await call(page, "diff.js", "a.map(m.isDiff)", DIFF, "$ ls", "--- only this") == [
        True,
        False,
        False,
    ]


async def test_a_folder_called_as_gits_letters_stays_part_of_a_path(page: Page):
    text = "--- a/one.py\n+++ a/one.py\n@@ -1 +1 @@\n-x\n+y\n--- /dev/null\n+++ b/two.py\n@@ -0,0 +1 @@\n+z\n"

    assert await call(page, "diff.js", "m.readDiff(a[0]).map((file) => file.path)", text) == [
        "a/one.py",
        "b/two.py",
    ]


async def test_no_text_keeps_the_parser_busy_and_none_of_it_is_lost(page: Page):
    began = "(() => { const began = performance.now(); const text = m.markdownNodes(a[0]).textContent; "
    measured = began + "return [text.replaceAll('\\n', '').length, performance.now() - began]; })()"
    hostile = {
        "stars": "*" * 20_000 + "a",
        "paragraphs": ("*" * 3_900 + "a\n\n") * 25,
        "bars": "_a" * 20_000,
        "addresses": "a." * 30_000 + "@",
    }

    for name, text in hostile.items():
        chars, took_ms = await call(page, "markdown.js", measured, text)
        assert chars == len(text.replace("\n", "")), name
        assert took_ms < 8_000, name


async def test_all_that_is_to_be_approved_is_shown(page: Page):
    long = "x" * 80_000
    shell = "true\nindex $(evil one)\n--- a\t$(evil two)\n+++ b\n@@ -1 +1 @@"
    code = f"index = evil(1)\ndiff = evil(2)\n@@ -1 +1 @@\n# {long}\nevil(3)"
    cut = f"{code[:60]}\n(no sandbox)"
    wanted = [
        ("bash", {"command": shell}, f"$ {shell}\n(in .)", ["$(evil one)", "$(evil two)"]),
        ("python", {"code": code}, cut, ["evil(1)", "evil(2)", "evil(3)", "(no sandbox)"]),
        ("web_fetch", {"url": f"http://a/{long}last"}, "", ["xlast"]),
        ("agent", {"prompt": "a task", "agent": "mighty", "turns": 7}, "a task", ["a task", "mighty", "7"]),
    ]
    said = """(async () => {
        const { html, render } = await import("bridle/dom.js");
        return a[0].map((approval) => {
            const place = document.createElement("div");
            render(html`<${m.Asks} head=${{ session: "s", approvals: [approval] }} />`, place);
            return place.querySelector(".ask-body").textContent;
        });
    })()"""

    approvals = [
        {"call_id": tool, "tool": tool, "args": args, "preview": preview, "why": "mode ask"}
        for tool, args, preview, _ in wanted
    ]
    shown = await call(page, "asks.js", said, approvals)

    for (tool, _, _, words), text in zip(wanted, shown, strict=True):
        assert [word for word in words if word not in text] == [], tool
    assert shown[3].count("a task") == 1


async def test_code_that_would_take_long_to_colour_has_no_colours(page: Page):
    said = """(async () => {
        const element = document.createElement("code");
        const began = performance.now();
        m.fillCode(element, a[0], "ini");
        await import("highlight/ini");
        await new Promise((resolve) => setTimeout(resolve));
        return [element.textContent.length, element.children.length, performance.now() - began];
    })()"""

    for text in ("a" * 60_000, "a" * 19_000, "[a]\n" * 20_000):
        length, colours, took_ms = await call(page, "code.js", said, text)
        assert (length, colours) == (len(text), 0)
        assert took_ms < 8_000


async def test_a_language_called_as_a_part_of_every_object_is_none(page: Page):
    text = "```constructor\none\n```\n\n```__proto__\ntwo\n```\n\n```toString\nthree\n```"

    shown = await call(
        page,
        "markdown.js",
        "[...m.markdownNodes(a[0]).querySelectorAll('code')].map((e) => e.textContent)",
        text,
    )

    assert shown == ["one", "two", "three"]


async def test_only_what_is_near_the_sight_is_drawn(page: Page):
    heights = [100] * 1_000

    middle = await call(page, "sizes.js", "m.drawn(a[0], 50_000, 500)", heights)
    nothing = await call(page, "sizes.js", "m.drawn([], 0, 500)")

    assert middle == {"first": 491, "end": 513, "above": 49_100, "below": 48_700}
    assert nothing == {"first": 0, "end": 0, "above": 0, "below": 0}


async def test_patches_change_what_is_shown(page: Page):
    view = {"head": {"session": "s", "seq": 1}, "items": [item("a", text="A"), item("c")], "before": None}
    patches = [
        {"type": "put", "item": item("b"), "before": "a"},
        {"type": "put", "item": item("d", at=0)},
        {"type": "grow", "key": "d", "text": "1"},
        {"type": "grow", "key": "d", "text": "2"},
        {"type": "grow", "key": "d", "text": "o", "field": "output"},
        {"type": "drop", "key": "c"},
        {"type": "put", "item": item("a", text="again")},
        {"type": "grow", "key": "gone", "text": "x"},
        {"type": "head_changed", "head": {"session": "s", "seq": 2}},
        {"type": "flash", "text": "told"},
    ]
    said = """(() => {
        const shown = new m.Shown(a[0]);
        const flashes = shown.apply(a[1]);
        const items = shown.keys.value.map((key) => shown.item(key).value);
        return { items, flashes, live: shown.liveKeys, seq: shown.head.value.seq };
    })()"""

    assert await call(page, "shown.js", said, view, patches) == {
        "items": [item("b"), item("a", text="again"), item("d", at=0, text="12", output="o")],
        "flashes": [{"type": "flash", "text": "told"}],
        "live": ["d"],
        "seq": 2,
    }


async def test_a_page_does_not_grow_with_what_is_read_in_it(page: Page):
    view = {"head": {"session": "s", "seq": 1}, "items": [], "before": None}
    said = """(() => {
        const item = (seq) => ({ type: seq % 10 ? "note" : "said", key: `k${seq}`, seq, at: 1, text: "x" });
        const shown = new m.Shown(a[0]);
        for (let seq = 1; seq < 9_000; seq += 1) shown.apply([{ type: "put", item: item(seq) }]);
        const first = shown.item(shown.keys.value[0]).value;
        const isLinked = shown.before.value === first.seq - 1;
        const following = [shown.keys.value.length <= 3_000, first.type, isLinked];
        const older = Array.from({ length: 2_000 }, (_, at) => item(-at - 1)).reverse();
        shown.addOlder({ items: older, before: 7 });
        return [...following, shown.keys.value.length <= 3_000, shown.isApart.value, shown.before.value];
    })()"""

    assert await call(page, "shown.js", said, view) == [True, "said", True, True, True, 7]


async def test_what_is_typed_is_told_apart(page: Page):
    texts = ["/rev", "say /rev", "look at @src/a", "me@example", "@", "@a b"]

    typed = await call(page, "completing.js", "a.map((text) => m.typedAt(text, text.length))", *texts)

    assert typed == [
        {"kind": "command", "text": "rev", "from": 1},
        None,
        {"kind": "file", "text": "src/a", "from": 9},
        None,
        {"kind": "file", "text": "", "from": 1},
        None,
    ]


async def test_markdown_that_grows_ends_as_if_it_had_come_at_once(page: Page):
    said = """(async () => {
        const { html, render } = await import("bridle/dom.js");
        const place = document.createElement("div");
        const draw = (text, isLive) => render(html`<${m.Markdown} text=${text} isLive=${isLive} />`, place);
        for (let end = 1; end <= a[0].length; end += 1) draw(a[0].slice(0, end), true);
        const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
        while (!place.textContent.includes("The end.")) await pause();
        const grown = place.textContent;
        draw(a[0], false);
        return [grown, place.textContent];
    })()"""

    grown, whole = await call(page, "markdown.js", said, MARKDOWN)

    assert grown == whole
    assert "TitleA paragraph\nof two lines." in "".join(whole.splitlines(keepends=True)).replace("\n\n", "")


def item(key: str, at: int = 1, **more: Any) -> dict[str, Any]:
    return {"type": "answer", "key": key, "seq": 1, "at": at, "text": "", **more}
