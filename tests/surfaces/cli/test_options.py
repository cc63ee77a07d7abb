import json
import signal
from typing import Any, get_args

import pytest

from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, UsageError
from bridle.core.model import Effort
from bridle.core.protocol import RunOptions
from bridle.surfaces.cli.options import resolve_options, run_options
from bridle.surfaces.cli.parser import parse
from bridle.surfaces.cli.run_args import EFFORTS
from tests.surfaces.command import Bridle, Done, steady


def test_without_flags_nothing_differs():
    assert run_options(parse(["run", "x"])) == RunOptions()


def test_every_flag():
    args = "run --model a/b --plan --allow read_file --allow edit_file(src/**) --ask bash --deny web_fetch"
    args += " --max-turns 3 --max-tokens 10_000 --max-cost $0.50 --max-duration 1m30s --max-tool-calls 0 x"

    assert run_options(parse(args.split())) == RunOptions(
        model="a/b",
        mode="plan",
        allow=("read_file", "edit_file(src/**)"),
        ask=("bash",),
        deny=("web_fetch",),
        limits=Limits(tokens=10_000, duration_s=90.0, tool_calls=0, cost=0.5, turns=3),
    )


def test_code_mode_is_on_off_or_up_to_the_agent():
    assert [run_options(parse(["run", *flags, "x"])).code for flags in ([], ["--code"], ["--no-code"])] == [
        None,
        True,
        False,
    ]
    with pytest.raises(UsageError, match="not allowed with"):
        parse(["run", "--code", "--no-code", "x"])


@pytest.mark.parametrize(
    ("flag", "value", "message"),
    [
        ("--allow", "edit file", '--allow: malformed rule "edit file"'),
        ("--deny", "", '--deny: malformed rule ""'),
        ("--max-turns", "0", '--max-turns: "0" is not a whole number of at least 1'),
        ("--max-turns", "many", '--max-turns: "many" is not a whole number of at least 1'),
        ("--max-tokens", "1.5", '--max-tokens: "1.5" is not a whole number of at least 1'),
        ("--max-tool-calls", "9" * 20, f'--max-tool-calls: "{"9" * 20}" is not a whole number of at least 0'),
        ("--max-cost", "free", '--max-cost: "free" is not an amount in dollars'),
        ("--max-cost", "nan", '--max-cost: "nan" is not an amount in dollars'),
        ("--max-cost", "inf", '--max-cost: "inf" is not an amount in dollars'),
        ("--max-duration", "soon", '--max-duration: malformed duration "soon"'),
        ("--max-duration", "0s", "--max-duration: must be longer than zero"),
    ],
)
def test_a_wrong_value_names_its_flag(flag: str, value: str, message: str):
    with pytest.raises(UsageError) as error:
        run_options(parse(["run", f"{flag}={value}", "x"]))

    assert error.value.message == message


def test_rules_are_seen_from_the_working_directory():
    options = RunOptions(allow=("edit_file(./src/)",), ask=("bash(rm:*)",), deny=("read_file(~/**)",))

    assert resolve_options(options, "/home/ann/work", {"HOME": "/home/ann"}) == RunOptions(
        allow=("edit_file(src/**)",), ask=("bash(rm:*)",), deny=("read_file(/home/ann/**)", "read_file(**)")
    )


def test_a_rule_below_home_needs_a_home():
    with pytest.raises(ConfigError, match="no home folder"):
        resolve_options(RunOptions(deny=("read_file(~/x)",)), "/w", {})


SCHEMA = '{"type": "object"}'


def test_a_wanted_value():
    def options(*flags: str) -> RunOptions:
        return run_options(parse(["run", "--output-schema", SCHEMA, *flags, "x"]))

    assert options() == RunOptions(output_schema={"type": "object"})
    assert options("--structured-output-retries", "0") == RunOptions(
        output_schema={"type": "object"}, output_retries=0
    )
    assert options("--output-schema-compat", "strict") == RunOptions(
        output_schema={"schema": {"type": "object"}, "format": "meerkat_v1", "compat": "strict"}
    )


# ---------------------------------------------------------------------------- output schema


AGE = '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}'
PROSE = {"text": "Ann is three years old."}
WRONG = {"text": '{"age": "three"}'}
RIGHT = {"text": '```json\n{"age": 3}\n```'}
NO_FIT = 'Schema validation failed: #/age: "three" is not of type "integer"'


def run(bridle: Bridle, model: str, *flags: str, schema: str = AGE) -> Done:
    return bridle("run", "--model", model, "--output-schema", schema, *flags, "how old is Ann")


def test_the_value_alone_is_on_stdout(bridle: Bridle):
    assert run(bridle, bridle.script(PROSE, RIGHT)) == Done(0, '{"age":3}\n', "")
    assert run(bridle, bridle.script(PROSE, RIGHT), "-p") == Done(0, '{"age":3}\n', "")


def test_an_answer_that_fits_is_not_asked_for_again(bridle: Bridle):
    assert run(bridle, bridle.script({"text": '{"age": 4}'})) == Done(0, '{"age":4}\n', "")


def test_what_is_told_on_the_way_goes_to_stderr(bridle: Bridle):
    (bridle.project / "ann.txt").write_text("3")
    look = {"text": "I look.", "calls": [{"name": "read_file", "args": {"path": "ann.txt"}}]}

    done = run(bridle, bridle.script({"reasoning": "Hm.", **look}, PROSE, RIGHT), "-v")

    assert (done.code, done.out) == (0, '{"age":3}\n')
    assert steady(done.err).splitlines()[:-1] == [
        "Hm.",
        "» read_file ann.txt ✓ TIME",
        "the answer does not fit the schema yet: the model is asked for one that does",
    ]
    assert "3 turns · 1 tool call" in done.err


def test_the_error_is_told_to_the_model_which_tries_again(bridle: Bridle):
    model = bridle.script(
        PROSE,
        {**WRONG, "expect": {"user": AGE.replace(": ", ":").replace(", ", ",")}},
        {**RIGHT, "expect": {"user": NO_FIT}},
    )

    assert run(bridle, model) == Done(0, '{"age":3}\n', "")


@pytest.mark.parametrize(("retries", "attempts"), [("0", "1 attempt"), ("1", "2 attempts")])
def test_when_no_value_fits_nothing_is_on_stdout(bridle: Bridle, retries: str, attempts: str):
    model = bridle.script(PROSE, *[WRONG] * 5)

    done = run(bridle, model, "--structured-output-retries", retries)

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: structured output: no answer fits the schema after {attempts}")
    assert NO_FIT in done.err


@pytest.mark.parametrize("value", ["null", "false", '"a\\u001b[31m\\u2028b"', "[]", "1.5"])
def test_any_value_is_one_document(bridle: Bridle, value: str):
    done = run(bridle, bridle.script(PROSE, {"text": value}), schema="{}")

    assert (done.code, done.err) == (0, "")
    assert done.out.endswith("\n")
    assert done.out.count("\n") == 1
    assert json.loads(done.out) == json.loads(value)


@pytest.mark.parametrize("output", ["json", "stream-json"])
def test_the_result_holds_the_value(bridle: Bridle, output: str):
    done = run(bridle, bridle.script(PROSE, RIGHT), "--output", output)

    assert (done.code, done.err) == (0, "")
    result = json.loads(done.out.splitlines()[-1])
    assert (result["type"], result["outcome"]) == ("result", "completed")
    assert (result["structured_output"], result["schema_warnings"]) == ({"age": 3}, [])
    assert result["turns"] == 2


def test_the_result_of_a_failure_keeps_the_last_words(bridle: Bridle):
    done = run(bridle, bridle.script(PROSE, WRONG), "--output", "json", "--structured-output-retries", "0")

    result = json.loads(done.out)
    assert (done.code, result["outcome"], result["structured_output"]) == (1, "failed", None)
    assert result["text"] == WRONG["text"]
    assert result["reason"].startswith("structured output: ")


@pytest.mark.parametrize(
    "written",
    [AGE, f"\ufeff{AGE}", f" \n{AGE}\n", f'{{"schema": {AGE}, "name": "age", "strict": true}}'],
    ids=["plain", "with a BOM", "with space", "wrapped"],
)
def test_a_schema_in_a_file(bridle: Bridle, written: str):
    (bridle.project / "age.json").write_text(written)

    assert run(bridle, bridle.script(PROSE, RIGHT), schema="age.json") == Done(0, '{"age":3}\n', "")


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("none.json", "--output-schema: none.json cannot be read: No such file or directory"),
        (".", "--output-schema: . cannot be read: Is a directory"),
        ('{"type"', "--output-schema: the schema is not JSON: Expecting ':' delimiter at line 1 column 8"),
        ('{"type": "x", "type": "y"}', "the key 'type' comes twice in one object"),
        ("list.json", "--output-schema: list.json is not a JSON object"),
        ("bytes.json", "--output-schema: bytes.json is not UTF-8 text"),
        ("/dev/zero", "--output-schema: /dev/zero is larger than 1024 KiB"),
        ('{"type": "text"}', 'output schema: #/type: there is no type "text"'),
        ('{"$ref": "http://127.0.0.1:9/s"}', "output schema: #/$ref is 'http://127.0.0.1:9/s'"),
        ('{"$ref": "file:///etc/passwd"}', "output schema: #/$ref is 'file:///etc/passwd'"),
        ('{"enum": []}', "output schema: no value can match it"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_before_anything_starts(
    bridle: Bridle, schema: str, message: str
):
    (bridle.project / "list.json").write_text("[]")
    (bridle.project / "bytes.json").write_bytes(b"\xff\xfe{}")

    done = run(bridle, bridle.script(PROSE), schema=schema)

    assert (done.code, done.out) == (64, "")
    assert message in done.err
    assert bridle.sessions() == []


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--structured-output-retries", "1"], "--structured-output-retries: needs --output-schema"),
        (["--output-schema-compat", "strict"], "--output-schema-compat: needs --output-schema"),
        (["--output-schema", AGE, "--structured-output-retries", "-1"], "not a whole number of at least 0"),
        (["--output-schema", AGE, "--structured-output-retries", "11"], "must be between 0 and 10"),
        (["--output-schema", AGE, "--output-schema-compat", "loose"], "is not one of lossy, strict"),
    ],
)
def test_flags_that_make_no_sense(bridle: Bridle, flags: list[str], message: str):
    done = bridle("run", *flags, "hi")

    assert (done.code, done.out) == (64, "")
    assert message in done.err


def test_a_run_that_was_killed_while_it_tried_goes_on_counting(bridle: Bridle):
    """The attempts made before the crash count: one of two is left, and it is used."""
    hanging = bridle.script(PROSE, WRONG, {"text": "x", "fault": {"kind": "hang", "after": 0}})
    flags = ["--output-schema", AGE, "--structured-output-retries", "1", "--output", "stream-json"]
    with bridle.start("run", "--model", hanging, *flags, "how old") as process:
        assert process.stdout is not None
        for line in process.stdout:
            event: dict[str, Any] = json.loads(line).get("event", {})
            if event.get("type") == "turn_started" and event["turn"] == 3:
                break
        process.send_signal(signal.SIGKILL)
        process.stdout.read()

    model = bridle.script(PROSE, WRONG, WRONG, RIGHT)
    done = bridle("run", "--continue", "--model", model, "--output", "json")

    result = json.loads(done.out)
    assert (done.code, result["outcome"]) == (1, "failed")
    assert "after 2 attempts" in result["reason"]


def test_the_flag_knows_every_effort():
    assert get_args(Effort) == EFFORTS
