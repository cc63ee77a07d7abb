import io
import json
from typing import Any

import pytest

from bridle.core.errors import ToolError
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject, ToolSpec
from bridle.surfaces.cli.rules import CallVerdict, SubjectVerdict, check_call, format_verdict
from bridle.surfaces.shared.terminal import Screen
from tests.surfaces.command import Bridle, Done

EDIT = '{"path": "src/a.py", "old_str": "a", "new_str": "b"}'


def check(bridle: Bridle, *flags: str, tool: str = "edit_file", args: str = EDIT) -> Done:
    return bridle("rules", "check", *flags, "--tool", tool, "--args", args)


# ---------------------------------------------------------------------------- check


def test_without_rules_the_mode_decides_and_the_exit_code_says_it(bridle: Bridle):
    assert check(bridle) == Done(
        1,
        "ask  edit_file src/a.py\n     writes a file (mode ask)\n\n"
        "  ask  write  path  src/a.py  writes a file (mode ask)\n\n"
        '"always" would allow edit_file(src/**)\n',
        "",
    )
    assert check(bridle, "--accept-edits").code == 0
    assert check(bridle, "--mode", "plan").code == 77


def test_the_rule_that_decided_is_named(bridle: Bridle):
    (bridle.home / "config.toml").write_text('[rules]\nallow = ["edit_file(src/**)"]\n')

    allowed = check(bridle)
    denied = json.loads(check(bridle, "--json", "--deny", "read_file(src/*.py)").out)

    assert allowed == Done(
        0,
        "allow  edit_file src/a.py\n       rule allow edit_file(src/**)\n\n"
        "  allow  write  path  src/a.py  rule allow edit_file(src/**)\n",
        "",
    )
    why = "rule deny read_file(src/*.py)"
    assert denied == {
        "decision": "deny",
        "rule": "read_file(src/*.py)",
        "why": why,
        "subjects": [
            {
                "kind": "path",
                "value": "src/a.py",
                "access": "write",
                "tool": "edit_file",
                "decision": "deny",
                "rule": "read_file(src/*.py)",
                "why": why,
            }
        ],
        "suggestions": [],
    }


def test_an_agents_rules_mode_and_tools_count(bridle: Bridle):
    folder = bridle.home / "agents" / "reader"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text(
        'mode = "accept-edits"\ntools = ["edit_file"]\n[rules]\ndeny = ["edit_file(gen/**)"]\n'
    )

    codes = [
        check(bridle, "--agent", "reader").code,
        check(bridle, "--agent", "reader", args=EDIT.replace("src", "gen")).code,
    ]
    missing = check(bridle, "--agent", "reader", tool="read_file", args='{"path": "a"}')

    assert codes == [0, 77]
    assert missing == Done(64, "", "error: no tool is named 'read_file'\nhint: did you mean edit_file?\n")


def test_a_tool_of_a_server_is_judged_without_starting_it(bridle: Bridle):
    (bridle.home / "config.toml").write_text(
        "[mcp.servers.a]\ncommand = 'no-such'\nreads = ['get_*']\nwithout_tools = ['drop']\n"
        "[mcp.servers.off]\ncommand = 'no-such'\nenabled = false\n"
    )

    def judged(tool: str, *flags: str) -> tuple[int, str]:
        done = bridle("rules", "check", "--tool", tool, "--args", '{"x": 1}', *flags)
        return done.code, (done.out or done.err).splitlines()[0]

    assert judged("mcp__a__set") == (1, "ask  mcp__a__set x=1")
    assert judged("mcp__a__get_it") == (0, "allow  mcp__a__get_it x=1")
    assert judged("mcp__a__set", "--allow", "mcp__a__*") == (0, "allow  mcp__a__set x=1")
    assert judged("mcp__a__get_it", "--deny", "mcp__*") == (77, "deny  mcp__a__get_it x=1")
    for name in ("mcp__a__drop", "mcp__off__set", "mcp__b__set", "mcp__a__"):
        assert judged(name) == (64, f"error: no tool is named '{name}'")


def test_a_rule_of_a_flag_may_be_absolute_or_below_home(bridle: Bridle):
    flags = ["--deny", f"edit_file({bridle.project}/src/**)", "--deny", "read_file(~/x/**)"]

    done = check(bridle, *flags)

    assert (done.code, done.out.splitlines()[1]) == (77, "      rule deny edit_file(src/**)")


@pytest.mark.parametrize(
    ("flags", "tool", "args", "message"),
    [
        ([], "edit_fil", "{}", "error: no tool is named 'edit_fil'\nhint: did you mean edit_file?\n"),
        ([], "read_file", "{", "error: --args: is not JSON: Input data was truncated\n"),
        ([], "read_file", "[]", "error: --args: is not a JSON object\n"),
        ([], "read_file", "{}", 'error: read_file: "path" is missing, it must be a string\n'),
        (["--deny", "x("], "read_file", "{}", 'error: --deny: malformed rule "x("\n'),
        (["--mode", "ploan"], "read_file", "{}", 'error: mode "ploan" is not one of '),
        (["--plan", "--mode", "ask"], "read_file", "{}", "error: argument --mode: not allowed with "),
    ],
)
def test_wrong_usage_is_told(bridle: Bridle, flags: list[str], tool: str, args: str, message: str):
    done = check(bridle, *flags, tool=tool, args=args)

    assert (done.code, done.out) == (64, "")
    assert done.err.startswith(message)


def test_what_the_tool_itself_refuses_is_denied(bridle: Bridle):
    done = check(bridle, "--yolo", tool="read_file", args='{"path": "../x"}')

    assert done.code == 77
    assert done.out.startswith("deny  read_file ../x\n      absolute or parent paths are not allowed")


class Shell:
    """A stand-in for a tool whose calls touch several things."""

    parallel = False
    spec = ToolSpec("bash", "", {"type": "object"})

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        if args["command"] == "fail":
            raise ToolError("no such shell", hint="try another")
        return Access(
            "bash",
            "execute",
            (
                Subject("command", "git status", "read", general="git status:*"),
                Subject("command", "rm -rf x\x1b[2J", general="rm:*"),
                Subject("path", "out.txt", "write", "write_file"),
            ),
            str(args.get("doubt", "")),
        )

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        return ""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise AssertionError("a check runs nothing")


def call(**args: Any) -> ToolCall:
    return ToolCall(CallId("c"), "bash", {"command": "git status && rm -rf x\x1b[2J > out.txt", **args})


def test_each_simple_command_has_a_verdict_of_its_own():
    rules = (Rule("deny", "bash", "rm:*"), Rule("allow", "write_file", "*"))

    judgement = check_call(Shell(), call(), rules, "ask", "/w")

    assert judgement == CallVerdict(
        "deny",
        "bash(rm:*)",
        "rule deny bash(rm:*)",
        [
            SubjectVerdict("command", "git status", "read", "bash", "allow", None, "only reads (mode ask)"),
            SubjectVerdict(
                "command", "rm -rf x\x1b[2J", "execute", "bash", "deny", "bash(rm:*)", "rule deny bash(rm:*)"
            ),
            SubjectVerdict(
                "path", "out.txt", "write", "write_file", "allow", "write_file(*)", "rule allow write_file(*)"
            ),
        ],
    )
    assert format_verdict(Screen(io.StringIO(), {}), call(), judgement) == [
        "deny  bash git status && rm -rf x\\x1b[2J > out.txt",
        "      rule deny bash(rm:*)",
        "",
        "  allow  read     command  git status       only reads (mode ask)",
        "  deny   execute  command  rm -rf x\\x1b[2J  rule deny bash(rm:*)",
        "  allow  write    path     out.txt          rule allow write_file(*)",
    ]


def test_all_rules_that_always_would_add_are_shown():
    judgement = check_call(Shell(), call(), (), "ask", "/w")

    assert judgement.suggestions == ("bash(rm:*)", "write_file(*)")
    assert format_verdict(Screen(io.StringIO(), {}), call(), judgement)[-1] == (
        '"always" would allow bash(rm:*), write_file(*)'
    )


def test_doubt_is_the_reason_where_there_is_some():
    judgement = check_call(Shell(), call(doubt="it cannot be parsed"), (Rule("allow", "*"),), "ask", "/w")

    assert (judgement.decision, judgement.rule, judgement.why) == ("ask", None, "it cannot be parsed")
    assert [row.decision for row in judgement.subjects] == ["allow"] * 3


def test_a_call_that_fails_before_it_starts_is_denied_with_its_message():
    assert check_call(Shell(), call(command="fail"), (), "yolo", "/w") == CallVerdict(
        "deny", None, "no such shell (hint: try another)"
    )


def test_colours_mean_the_decision():
    screen = Screen(io.StringIO(), {"FORCE_COLOR": "1"})
    judgement = check_call(Shell(), call(), (Rule("deny", "write_file"),), "ask", "/w")

    lines = format_verdict(screen, call(), judgement)

    marks = [line.split("m")[0].strip() for line in (lines[0], *lines[3:6])]
    assert marks == ["\x1b[31", "\x1b[32", "\x1b[33", "\x1b[31"]


def test_a_command_line_is_judged_command_by_command(bridle: Bridle):
    line = json.dumps({"command": "git status && /bin/rm -rf x"})

    asked = json.loads(check(bridle, "--json", tool="bash", args=line).out)
    denied = json.loads(check(bridle, "--json", "--deny", "bash(rm:*)", tool="bash", args=line).out)
    allowed = check(bridle, tool="bash", args='{"command": "git status"}')

    commands = [row for row in denied["subjects"] if row["kind"] == "command"]
    assert [(row["value"], row["decision"], row["rule"]) for row in commands] == [
        ("git status", "allow", None),
        ("/bin/rm -rf x", "deny", "bash(rm:*)"),
    ]
    assert (asked["decision"], denied["decision"], denied["rule"]) == ("ask", "deny", "bash(rm:*)")
    assert allowed.code == 0


# ---------------------------------------------------------------------------- list, add, remove


def test_rules_are_listed_with_their_places(bridle: Bridle):
    (bridle.home / "config.toml").write_text('[rules]\nallow = ["read_file"]\ndeny = [\n  "bash(rm:*)",\n]\n')
    (bridle.project / ".bridle").mkdir()
    (bridle.project / ".bridle" / "config.toml").write_text(
        '[rules]\nallow = ["bash"]\nask = [{ rule = "edit_file(a)", match = ["a"] }]\n'
    )

    done = bridle("rules", "list")
    listed = json.loads(bridle("rules", "list", "--json").out)

    mine, theirs = bridle.home / "config.toml", bridle.project / ".bridle/config.toml"
    assert done.out == (
        f"deny   bash(rm:*)    {mine}:4\n"
        f"ask    edit_file(a)  {theirs}:3\n"
        f"allow  read_file     {mine}:2\n"
        f"allow  bash          {theirs}:2  (no effect: the project is not trusted)\n"
    )
    assert done.err.endswith("mode ask\n")
    assert (listed["agent"], listed["mode"]) == ("default", "ask")
    assert listed["rules"][3] == {
        "action": "allow",
        "rule": "bash",
        "place": f"{theirs}:2",
        "in_effect": False,
    }


def test_without_rules_only_the_mode_is_said(bridle: Bridle):
    assert bridle("rules", "list") == Done(0, "", "mode ask, no rules\n")


def test_a_rule_is_added_and_taken_out_again_with_comments_kept(bridle: Bridle):
    file = bridle.home / "config.toml"
    file.write_text('# mine\n[rules]\ndeny = ["bash(su:*)"] # never\n')

    added = [bridle("rules", "add", "--deny", "bash(rm:*)") for _ in range(2)]
    after_adding = file.read_text()
    removed = [bridle("rules", "remove", "--deny", "bash(rm:*)") for _ in range(2)]

    assert added == [Done(0, "", "")] * 2
    assert after_adding == '# mine\n[rules]\ndeny = ["bash(su:*)", "bash(rm:*)"] # never\n'
    assert removed == [
        Done(0, "", ""),
        Done(1, "", f'error: {file}: has no rule deny "bash(rm:*)"\nhint: bridle rules list\n'),
    ]
    assert file.read_text() == '# mine\n[rules]\ndeny = ["bash(su:*)"] # never\n'


def test_a_malformed_rule_is_not_added(bridle: Bridle):
    done = bridle("rules", "add", "--allow", "web_fetch(x.org)")

    assert done == Done(
        64,
        "",
        'error: --allow: malformed rule "web_fetch(x.org)": a pattern of web_fetch is a domain\n'
        'hint: write "web_fetch(domain:x.org)"\n',
    )
    assert not (bridle.home / "config.toml").exists()


def test_a_change_needs_a_list(bridle: Bridle):
    done = bridle("rules", "add", "bash")

    assert (done.code, done.out) == (64, "")
    assert done.err.startswith("error: one of the arguments --allow --ask --deny is required\n")
