"""The script format, and the messages for its errors."""

from pathlib import Path

import msgspec
import pytest

from bridle.core.errors import ConfigError
from bridle.core.model import Price
from bridle.providers.script import (
    Call,
    ErrorFault,
    Expect,
    GarbageFault,
    HangFault,
    HttpFault,
    Reply,
    ResetFault,
    Script,
    ScriptUsage,
    TruncateFault,
    load_script,
    parse_script,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "scripts"

EVERYTHING = Script(
    (
        Reply(
            text=("a", "b"),
            reasoning="c",
            calls=(
                Call("f", {"x": [1]}, "id"),
                Call("g", '{"bro'),
                Call("h", ('{"a"', ":1}"), ""),
            ),
            usage=ScriptUsage(1, 2, 3, 4, 5),
            stop_reason="max_tokens",
            model="m",
            delay_ms=1,
            chunk_delay_ms=2,
            expect=Expect("u", "r", "s", ("t",)),
            match="^x",
            fault=HttpFault(429, "rate_limited", "m", {"retry-after": "1"}, {"error": 1}, 2),
        ),
        Reply(fault=ErrorFault(1, 2, "server_overloaded", "m")),
        Reply(fault=TruncateFault(0)),
        Reply(fault=GarbageFault(data="\xff")),
        Reply(fault=ResetFault(3)),
        Reply(fault=HangFault()),
    ),
    repeat=True,
    about="all of it",
    window_tokens=1,
    max_output_tokens=2,
)


def test_every_key_is_read():
    assert parse_script(msgspec.json.encode(EVERYTHING)) == EVERYTHING


def test_toml_says_the_same():
    text = b"""
        repeat = true
        [price]
        input = 1.0
        output = 2.0
        [[replies]]
        text = "hi"
        calls = [{name = "f", args = {path = "a"}}]
        fault = {kind = "reset", after = 1}
        [[replies]]
        text = ["a", "b"]
    """

    script = parse_script(text, "x.toml")

    assert script.replies == (
        Reply(text="hi", calls=(Call("f", {"path": "a"}),), fault=ResetFault(1)),
        Reply(text=("a", "b")),
    )
    assert script.price is not None
    assert (script.price.input, script.price.output) == (Price(1.0, 2.0).input, Price(1.0, 2.0).output)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"replies": [{"txt": "a"}]}', "unknown field `txt` - at `$.replies[0]`"),
        ('{"reply": []}', "unknown field `reply`"),
        ("{}", "missing required field `replies`"),
        ('{"replies": [{}, {"text": 1}]}', "at `$.replies[1].text`"),
        ('{"replies": [{"usage": {"inptu": 1}}]}', "unknown field `inptu` - at `$.replies[0].usage`"),
        ('{"replies": [{"delay_ms": -1}]}', "at `$.replies[0].delay_ms`"),
        (
            '{"replies": [{"fault": {"kind": "explode"}}]}',
            "Invalid value 'explode' - at `$.replies[0].fault.kind`",
        ),
        ('{"replies": [{"fault": {"kind": "reset", "status": 1}}]}', "unknown field `status`"),
        ('{"replies": [{"fault": {"kind": "http", "reason": "bad luck"}}]}', "'bad luck'"),
        ('{"replies": [{"fault": {"kind": "http", "status": 99}}]}', "at `$.replies[0].fault.status`"),
        ('{"replies": [{}, {"match": "("}]}', "at `$.replies[1].match`"),
        ('{"replies": [\n{"text":\n"a}\n', "bad.json:3: "),
        ("\xff", "bad.json"),
    ],
)
def test_a_mistake_names_the_file_and_the_key(text: str, says: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="latin-1")

    with pytest.raises(ConfigError) as caught:
        load_script(path)
    assert str(caught.value).startswith(str(path))
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["replies = [{txt = 'a'}]", "replies = [{", "\xff"])
def test_a_mistake_in_toml_names_the_file(text: str, tmp_path: Path):
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="latin-1")

    with pytest.raises(ConfigError, match=r"bad\.toml"):
        load_script(path)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(ConfigError, match="No such file"):
        load_script(tmp_path / "none.json")


@pytest.mark.parametrize("path", sorted(EXAMPLES.iterdir()), ids=lambda path: path.name)
def test_the_examples_are_scripts(path: Path):
    assert load_script(path).about
