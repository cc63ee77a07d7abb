from bridle.surfaces.shared.export import to_markdown
from bridle.surfaces.shared.transcript import local_time
from tests.surfaces.records import AT, code_session, edit_session


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


def test_a_result_of_nothing_but_fences_takes_no_time():
    text = to_markdown(edit_session(output="`" * 300_000))

    assert "`" * 300_001 + "\n" in text
