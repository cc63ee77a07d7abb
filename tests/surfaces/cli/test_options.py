import pytest

from bridle.core.budget import Limits
from bridle.core.errors import ConfigError, UsageError
from bridle.core.protocol import RunOptions
from bridle.surfaces.cli.options import resolve_options, run_options
from bridle.surfaces.cli.parser import parse


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
