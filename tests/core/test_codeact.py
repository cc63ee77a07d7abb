import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bridle.core.codeact import as_text, describe_tools, read_reply
from bridle.core.ids import CallId
from bridle.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    user_message,
)
from bridle.core.tool import ToolSpec
from tests.core.values import values_of

IMAGE = Media("image/png", "aGk=")


def reply(text: str) -> Message:
    return Message("assistant", (Text(text),))


def called(code: str) -> ToolCall:
    return ToolCall(CallId(""), "python", {"code": code}, meta={"fenced": True})


def cut(text: str) -> ToolCall:
    return ToolCall(CallId(""), "python", invalid=text, meta={"fenced": True})


def code_in(text: str, stop_reason: StopReason = "end_turn") -> str | None:
    """Return the code that would run; None if nothing would."""
    calls = read_reply(reply(text), stop_reason).calls
    return calls[0].args["code"] if calls else None


# ---------------------------------------------------------------------------- reading


def test_a_block_becomes_a_call_and_the_text_stays():
    message = reply("I count.\n```python\n1 + 1\n```\nWait.")

    assert read_reply(message, "end_turn") == Message("assistant", (*message.parts, called("1 + 1")))


def test_several_blocks_are_one_cell():
    assert code_in("```python\na = 1\n```\nthen\n```py\n\n```\nand\n~~~Python3\na\n~~~\n") == "a = 1\n\na"


def test_a_reply_with_calls_of_its_own_stays_as_it_is():
    message = Message("assistant", (Text("```python\n1\n```"), ToolCall(CallId("a"), "grep")))

    assert read_reply(message, "tool_use") == message


def test_text_goes_on_after_thinking():
    message = Message(
        "assistant",
        (Text("So:"), Reasoning("hm\n```python\nno\n```"), Text("```python\na = ("), Text("1)\n```")),
    )

    assert read_reply(message, "end_turn").parts[-1] == called("a = (1)")


@pytest.mark.parametrize(
    "line",
    [
        "```python",
        "```Python",
        "```python3",
        "```py",
        "``` PY ",
        "`````python",
        "~~~python",
        '```python title="a"',
        "```python {.x}",
        "```python{1,2}",
        "```py,x",
        "```python:a.py",
        "```python\r",
    ],
)
def test_these_open_a_block_of_python(line: str):
    assert code_in(f"{line}\n1\n{line[0] * 7}") == "1"


@pytest.mark.parametrize(
    "line",
    [
        "``python",
        "```",
        "```bash",
        "```json",
        "```pycon",
        "```python-repl",
        "```pyi",
        "a ```python",
        "~~`python",
    ],
)
def test_these_do_not(line: str):
    assert code_in(f"{line}\n1\n```\n") is None


def test_code_within_a_line_opens_nothing():
    assert code_in("```python 1``` is\n```python\n2\n```") == "2"


@pytest.mark.parametrize("end", ["```", "````", "``` ", "  ```", "```\r"])
def test_these_close_a_block(end: str):
    assert code_in(f"```python\n1\n{end}\n2") == "1"


@pytest.mark.parametrize("line", ["``", "~~~", "```x", "x```", "``` ```"])
def test_these_do_not_close_it(line: str):
    assert code_in(f"```python\n1\n{line}\n2\n```\n3") == f"1\n{line}\n2"


@pytest.mark.parametrize(
    "text",
    [
        "```markdown\n```python\n1\n```\n```",
        "````\n```python\n1\n```\n````",
        "```bash\ncat <<E\n```python\n1\n```\nE\n```",
        "~~~\n```python\n1\n```\n~~~",
        "```md\n````python\n1\n````\n```",
        "````md\n```python\n1\n````",
    ],
)
def test_python_inside_of_another_block_is_no_code_but_what_follows_is(text: str):
    assert code_in(f"{text}\nNow:\n```python\n2\n```") == "2"


@pytest.mark.parametrize(
    "code",
    [
        's = """\n```\n"""',
        "s = '''\n```\n'''",
        's = rb"""\\\n```\n\\"""\n```\n"""',
        's = "it\'s" + """\n```\n"""',
        "s = 'a\\\n\"\"\"' + '''\n```\n'''",
        's = f"""{1}\n```\n{\'"\'}"""',
        's = """a""" """\n```\n"""',
        's = """\'\'\'\n```\n"""',
        's = "" + """\n```\n"""',
    ],
)
def test_a_fence_inside_of_a_string_closes_nothing(code: str):
    assert code_in(f"```python\n{code}\n```\n1") == code


@pytest.mark.parametrize(
    "code",
    [
        "# it's '''",
        "a = 'it\\'s'  # \"\"\"",
        "a = \"'''\"",
        "a = 'x",
        'a = """b""" \'',
        "a = '\\\\'",
        "a = '''b\\\\'''",
        'a = """b\\""""',
    ],
)
def test_where_no_string_is_open_a_fence_closes(code: str):
    assert code_in(f"```python\n{code}\n```\nIt's said: '''") == code


def test_when_a_string_has_no_end_the_first_fence_closes():
    assert code_in('```python\na = """b\n```\nOr:\n```python\nc\n```') == 'a = """b\n\nc'


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1. So:\n   ```python\n   if a:\n       b\n\n   c\n   ```\n", "if a:\n    b\n\nc"),
        ("\t```python\n\ta\n\t```", "a"),
        ("   ```python\n  a\nb\n```", "a\nb"),
        ("```python\n    a\n      b\n```", "a\n  b"),
    ],
)
def test_a_block_in_a_list_loses_the_indentation_of_the_list(text: str, code: str):
    assert code_in(text) == code


def test_a_block_without_an_end_runs_to_the_end_of_the_text():
    """Some servers stop at a fence, and do not send it."""
    assert code_in("```python\na\nb", "stop_sequence") == "a\nb"


@pytest.mark.parametrize("line", ["[Output]", "[Error] ", "[Output of grep]", "[Output]\r"])
def test_what_rests_on_a_result_that_the_model_made_up_is_not_run(line: str):
    text = f"```python\na\n```\nand\n```python\n[Output]\n```\n{line}\n2\n\n```python\nb\n```\n```python"

    assert code_in(text) == code_in(text, "max_tokens") == "a\n\n[Output]"


@pytest.mark.parametrize("line", ["[Output]: 2", "So [Output]", "[Outputs]", "[Output of]"])
def test_words_that_only_resemble_a_result_end_nothing(line: str):
    assert code_in(f"[Output]\n```python\na\n```\n{line}\n```python\nb\n```") == "a\n\nb"


@pytest.mark.parametrize("stop_reason", ["max_tokens", "content_filter", "cancelled"])
@pytest.mark.parametrize(
    "text",
    ["```python\nremove('/tm", "```python", '```python\na = """\n```\nb', "```python\na\n```\n```py\nb"],
)
def test_a_block_that_was_cut_off_is_not_run(text: str, stop_reason: StopReason):
    message = reply(f"So:\n{text}")

    assert read_reply(message, stop_reason) == Message("assistant", (*message.parts, cut(text)))


def test_whole_blocks_of_a_reply_that_was_cut_off_run():
    assert code_in("```python\na\n```\nand now we", "max_tokens") == "a"


@pytest.mark.parametrize("text", ["", "words", "```python\n```", "```python\n \n\t\n```", "```python"])
def test_where_there_is_no_code_the_reply_stays_as_it_is(text: str):
    assert read_reply(reply(text), "end_turn") == reply(text)


PIECES = st.sampled_from(
    [
        "```",
        "~~~",
        "````",
        "python",
        "py",
        "md",
        "\n",
        "\n",
        " ",
        "a",
        '"""',
        "'''",
        "'",
        '"',
        "\\",
        "#",
        "\r\n",
        "`",
    ]
)
STOPS = st.sampled_from(["end_turn", "max_tokens", "stop_sequence"])


@given(st.lists(PIECES, max_size=40).map("".join), STOPS)
@example("```python\n\\'''\n```\n" * 3, "end_turn")
def test_any_text_is_read_once_and_code_is_taken_from_it(text: str, stop_reason: StopReason):
    read = read_reply(reply(text), stop_reason)

    assert read_reply(read, stop_reason) == read
    assert read.parts[0] == Text(text)
    for call in read.calls:
        lines = [line.strip() for line in text.split("\n")]
        taken = [line.strip() for line in (call.invalid or call.args["code"]).split("\n")]
        assert [line for line in taken if line and line not in lines] == []
        assert bool(call.invalid) != bool(call.args.get("code", "").strip())


@given(values_of(Message), STOPS)
def test_any_message_can_be_read(message: Message, stop_reason: StopReason):
    read = read_reply(message, stop_reason)

    assert read.parts[: len(message.parts)] == message.parts
    assert read_reply(read, stop_reason) == read


LINES = st.text(st.sampled_from("ab`~'\"\\# "), max_size=12)


@given(st.lists(LINES, max_size=6).map("\n".join), st.sampled_from("`~"))
def test_any_code_comes_back_out_of_a_fence_that_is_long_enough(body: str, char: str):
    code = f"pass{body}"
    fence = char * 13

    assert code_in(f"Look.\n{fence}python\n{code}\n{fence}\nSo.") == code


@given(
    st.lists(st.text(st.sampled_from("ab`~\n#"), max_size=20), max_size=4),
    st.sampled_from(['"""', "'''"]),
    st.sampled_from(["", "r", "rb", "F"]),
)
def test_strings_may_hold_fences(texts: list[str], quotes: str, prefix: str):
    code = "\n".join(["first", *(f"a = {prefix}{quotes}{text}{quotes}  # it's" for text in texts)])

    assert code_in(f"```python\n{code}\n```\nSo.") == code


SIZE = 1_000_000


@pytest.mark.parametrize(
    "text",
    [
        "`" * SIZE,
        "`" * SIZE + "x`",
        "```python\n" + '"' * SIZE,
        "```python\n'''" + "\\" * SIZE,
        "```python\n" + " " * SIZE,
        "```python\n\\'''\n```\n" * (SIZE // 18),
        "```md\n" * (SIZE // 6),
        "```python\n" * (SIZE // 10),
    ],
    ids=range(8),
)
def test_hostile_text_takes_no_longer_than_its_length_asks_for(text: str):
    """A tenth of it is read ten times as quickly, more or less; what is squared takes minutes."""
    started = time.perf_counter()
    read_reply(reply(text), "end_turn")

    assert time.perf_counter() - started < 10


# ---------------------------------------------------------------------------- writing


def test_a_fenced_call_is_in_the_text_already_and_its_output_is_the_users():
    asked = user_message("Count.")
    answer = read_reply(reply("```python\n1 + 1\n```"), "end_turn")
    result = Message("tool", (ToolResult(CallId("a"), "python", "2\n"),))

    assert as_text([asked, answer, result, reply("Two.")]) == (
        asked,
        reply("```python\n1 + 1\n```"),
        user_message("[Output]\n2"),
        reply("Two."),
    )


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult(CallId("a"), "python", "2"), "[Output]\n2"),
        (ToolResult(CallId("a"), "python", ""), "[Output]"),
        (ToolResult(CallId("a"), "python", "no", is_error=True), "[Error]\nno"),
        (ToolResult(CallId("a"), "grep", "x:1"), "[Output of grep]\nx:1"),
        (ToolResult(CallId("a"), "grep", "no", is_error=True), "[Error of grep]\nno"),
    ],
)
def test_results_say_what_they_are(result: ToolResult, text: str):
    assert as_text([Message("tool", (result,))]) == (user_message(text),)


def test_several_results_their_images_and_what_the_user_adds_are_one_message():
    results = Message(
        "tool",
        (ToolResult(CallId("a"), "look", "1", media=(IMAGE,)), ToolResult(CallId("b"), "python", "2")),
    )
    added = Message("user", (Text("And "), Text("this?")))

    assert as_text([results, added, user_message("Well?")]) == (
        Message(
            "user",
            (
                Text("[Output of look]\n1"),
                IMAGE,
                Text("\n\n[Output]\n2"),
                Text("\n\nAnd "),
                Text("this?"),
                Text("\n\nWell?"),
            ),
        ),
    )


def call(name: str, args: dict[str, Any], invalid: str = "") -> ToolCall:
    return ToolCall(CallId("a"), name, args, invalid)


@pytest.mark.parametrize(
    ("made", "block"),
    [
        (
            call("grep", {"pattern": "a'b", "all": True}),
            '```python\nawait grep(pattern="a\'b", all=True)\n```',
        ),
        (call("todos", {}), "```python\nawait todos()\n```"),
        (call("mcp__a-b__c", {"x": [1, None]}), "```python\nawait mcp__a_b__c(x=[1, None])\n```"),
        (call("f", {"a-b": 1, "if": 2, "c": 3}), "```python\nawait f(c=3, **{'a-b': 1, 'if': 2})\n```"),
        (call("grep", {}, invalid='{"pat'), "```python\nawait grep(...)\n```"),
        (call("python", {"code": "a = 1\na"}), "```python\na = 1\na\n```"),
        (call("python", {"code": "a = '''\n```'''"}), "````python\na = '''\n```'''\n````"),
        (call("python", {"code": 1}), "```python\nawait python(code=1)\n```"),
    ],
)
def test_other_calls_are_written_as_code(made: ToolCall, block: str):
    message = Message("assistant", (Reasoning("hm"), Text("So:"), made, Text("Well.")))

    assert as_text([message]) == (
        Message("assistant", (Reasoning("hm"), Text("So:"), Text(f"\n\n{block}"), Text("\n\nWell."))),
    )


def test_an_answer_that_only_held_a_fenced_call_leaves_no_empty_message():
    assert as_text([user_message("a"), Message("assistant", (called("1"),)), user_message("b")]) == (
        Message("user", (Text("a"), Text("\n\nb"))),
    )


CONVERSATIONS = st.lists(values_of(Message), max_size=6)


@given(CONVERSATIONS)
def test_a_conversation_in_words_alternates_and_keeps_all_that_was_said(messages: list[Message]):
    written = as_text(messages)

    roles = [message.role for message in written]
    assert [a for a, b in pairwise(roles) if a == b and a != "system"] == []
    assert {type(part) for message in written for part in message.parts} <= {Text, Reasoning, Media}
    whole = "".join(message.text for message in written)
    assert all(part.text in whole for m in messages for part in m.parts if isinstance(part, Text))
    assert _kept(written, Reasoning) == _kept(messages, Reasoning)
    media = [
        one
        for message in messages
        for part in message.parts
        for one in (
            (part,) if isinstance(part, Media) else part.media if isinstance(part, ToolResult) else ()
        )
    ]
    assert _kept(written, Media) == media


def _kept(messages: Any, kind: type[Part]) -> list[Part]:
    return [part for message in messages for part in message.parts if isinstance(part, kind)]


@given(CONVERSATIONS, st.integers(0, 6))
def test_more_messages_only_add_to_what_fewer_gave(messages: list[Message], count: int):
    fewer, more = as_text(messages[:count]), as_text(messages)

    for old, new in zip(fewer[:-1], more, strict=False):
        assert new == old
    for last in fewer[-1:]:
        grown = more[len(fewer) - 1]
        assert Message(grown.role, grown.parts[: len(last.parts)]) == last


def test_what_is_in_words_stays_as_it_is():
    messages = (user_message("a"), reply("b"), Message("user", (Text("c"), IMAGE)))

    assert as_text(messages) == messages


def test_tools_are_listed_with_the_first_paragraph_of_what_they_are_for():
    specs = [
        ToolSpec("grep", "Search files\nfor a pattern.\n \nMore.", {"type": "object"}),
        ToolSpec("todos", "", {"type": "object"}),
    ]

    assert describe_tools(specs, lambda spec: f"{spec.name}(x: str) -> str") == (
        "- `grep(x: str) -> str` — Search files for a pattern.\n- `todos(x: str) -> str`"
    )
