import json
from html.parser import HTMLParser

import pytest

from bridle.core.codec import decode_record
from bridle.core.messages import Media, Message, Reasoning, ToolCall, user_message
from bridle.core.protocol import MessageAdded, SessionCreated, SessionTitled
from bridle.surfaces.export import to_html, to_json, to_markdown
from bridle.surfaces.transcript import local_time
from tests.surfaces.records import AT, CALL, SESSION, code_session, edit_session, records

HOSTILE = "</pre></div><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[2J\x00\u202e&amp;\"'"


class Page(HTMLParser):
    """Collects what a browser would make of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += f" {data}"


def hostile_session():
    return records(
        [
            SessionCreated(SESSION, f"/tmp/{HOSTILE}", "default", HOSTILE),
            MessageAdded(user_message(HOSTILE)),
            MessageAdded(
                Message(
                    "assistant",
                    (
                        Reasoning(HOSTILE),
                        Media("image/png", '"><script>', HOSTILE),
                        Media("text/html", "PHNjcmlwdD4=", HOSTILE),
                        ToolCall(CALL, HOSTILE, {"x": HOSTILE}),
                    ),
                )
            ),
        ]
    )


def test_nothing_hostile_becomes_markup():
    page = Page(to_html(hostile_session()))

    assert page.open == []
    assert set(page.tags) <= {
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "ul", "li", "section", "div", "details",
        "summary", "pre", "p", "img",
    }  # fmt: skip
    assert page.attributes <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "open",
        "alt",
        "src",
    }
    assert page.text.count("<script>alert(1)</script>") >= 4


def test_the_page_has_no_control_characters_and_forbids_every_request():
    html = to_html(hostile_session())

    assert all(character.isprintable() or character in "\n\t" for character in html)
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in html
    assert "http://" not in html
    assert "https://" not in html


def test_a_page_reads_like_the_conversation():
    page = Page(to_html(edit_session("It says <hello> now.")))

    assert " ".join(page.text.split()) == (
        "fix the greeting fix the greeting session 019a8536-2b7c-7000-8000-000000000001"
        " agent default in /work"
        f" from {local()} to {local()} 1 run · 2 turns · 1 tool call · 235 tokens · price unknown"
        " user fix the greeting assistant I change it. call edit_file"
        ' { "path": "greet.py", "old_str": "helo", "new_str": "hello" }'
        " result edit_file Replaced 1 occurrence(s) in greet.py assistant It says <hello> now."
    )


def local() -> str:
    return local_time(AT)


def test_markdown_of_a_session():
    assert (
        to_markdown(edit_session(output="a ``` fence"))
        == f"""\
# fix the greeting

- session 019a8536-2b7c-7000-8000-000000000001
- agent default in /work
- from {local()} to {local()}
- 1 run · 2 turns · 1 tool call · 235 tokens · price unknown

## User

fix the greeting

## Assistant

I change it.

**Call** `edit_file`

```json
{{
  "path": "greet.py",
  "old_str": "helo",
  "new_str": "hello"
}}
```

**Result** `edit_file`

````
a ``` fence
````

## Assistant

Done.
"""
    )


def test_json_has_every_record_as_stored():
    stored = edit_session()

    document = json.loads(to_json(stored))

    assert document["version"] == 1
    assert document["session"]["title"] == "fix the greeting"
    assert [decode_record(json.dumps(record).encode()) for record in document["records"]] == stored


@pytest.mark.parametrize("export", [to_markdown, to_html, to_json])
def test_a_session_without_a_prompt_can_be_exported(export):
    created = records([SessionCreated(SESSION, "/work"), SessionTitled("# *x*")])

    assert "x" in export(created)


def test_markdown_has_code_as_code_and_quotes_the_calls_it_makes():
    text = to_markdown(code_session())

    assert text.partition("## Assistant\n\n")[2].startswith(
        """\
I look.

**Call** `python`

```python
text = await read_file("a.txt")
print(text)
```

> **Call** `read_file`
>
> ```json
> {
>   "path": "a.txt"
> }
> ```
>
> **Result** `read_file`
>
> ```
> 1: hello
> ```

> **Call** `edit_file`
"""
    )
    assert text.endswith("**Result** `python`\n\n```\n1: hello\n```\n\nIt says hello.\n")


def test_markdown_does_not_repeat_code_of_the_reply():
    text = to_markdown(code_session(fenced=True))

    assert text.count("print(text)") == 1
    assert "```\n\n**Call** `python`, the code above\n\n> **Call** `read_file`" in text


def test_a_page_folds_code_that_stands_in_the_reply():
    head = "<summary>call python</summary>"

    assert f'<details class="call" open>{head}' in to_html(code_session())
    assert f'<details class="call">{head}' in to_html(code_session(fenced=True))


def test_a_page_has_the_calls_of_code_before_its_result():
    page = Page(to_html(code_session()))

    text = " ".join(page.text.split())
    assert page.open == []
    assert (
        'call python text = await read_file("a.txt") print(text) call read_file { "path": "a.txt" }'
        ' result read_file 1: hello call edit_file { "path": "b.txt" } failed edit_file the user said no'
        " call bash {} failed bash denied by rule deny bash call wait"
    ) in text
    assert text.endswith("result python 1: hello It says hello.")
