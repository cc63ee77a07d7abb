import json
from pathlib import Path

import pytest

from tests.shebang import shebang
from tests.surfaces.command import Bridle, Done, steady

GUARD = f"""{shebang(options="-IS")}import json, sys
told = json.load(sys.stdin)
bad = "rm " in told.get("tool_call", {{}}).get("args", {{}}).get("command", "")
json.dump({{"decision": {{"decision": "deny", "message": "no rm"}}}} if bad else {{}}, sys.stdout)
"""

CONFIG = """\
[[hooks.entries]]
id = "guard"
point = "pre_tool_execution"
capability = "guardrail"
tools = ["bash"]
runtime = { type = "command", command = "hooks/guard.py" }

[[hooks.entries]]
id = "log"
point = "run_completed"
mode = "background"
runtime = { type = "command", command = "no-such-logger" }

[[hooks.entries]]
id = "off"
enabled = false
runtime = { type = "http", url = "http://127.0.0.1:1/", headers = { A = "hush" } }
"""


@pytest.fixture
def guard(bridle: Bridle) -> Path:
    """Create a home with hooks; return the program of one."""
    (bridle.home / "config.toml").write_text(CONFIG)
    path = bridle.home / "hooks/guard.py"
    path.parent.mkdir()
    path.write_text(GUARD)
    path.chmod(0o755)
    return path


def test_hooks_are_listed_with_their_state(bridle: Bridle, guard: Path):
    (bridle.project / ".bridle").mkdir(exist_ok=True)
    (bridle.project / ".bridle/config.toml").write_text(
        "[[hooks.entries]]\nid = 'theirs'\nruntime = { type = 'command', command = 'ls' }\n"
    )

    listed = bridle("hooks", "list")

    rows = [line.split() for line in listed.out.splitlines()]
    mine = "~/.bridle/config.toml"
    assert [" ".join(row) for row in rows] == [
        "HOOK STATE POINT MODE CAPABILITY PRIORITY POLICY WHERE RUNTIME",
        f"guard ok pre_tool_execution foreground guardrail 100 fail_closed {mine}:1 {guard}",
        f"log missing run_completed background observe 100 fail_open {mine}:8 no-such-logger",
        f"off disabled turn_boundary foreground observe 100 fail_open {mine}:14 http://127.0.0.1:1/",
        "theirs not trusted turn_boundary foreground observe 100 fail_open .bridle/config.toml:1 ls",
    ]
    assert (listed.code, listed.err.splitlines()) == (
        0,
        [
            'warning: hook "log": no-such-logger is not on PATH',
            "hint: run bridle trust to activate those of the project",
        ],
    )


def test_the_list_is_also_json(bridle: Bridle, guard: Path):
    listed = json.loads(bridle("hooks", "list", "--json").out)

    assert listed[2] == {
        "id": "off",
        "enabled": False,
        "point": "turn_boundary",
        "mode": "foreground",
        "capability": "observe",
        "priority": 100,
        "failure_policy": "fail_open",
        "runtime": {
            "type": "http",
            "url": "http://127.0.0.1:1/",
            "method": "POST",
            "headers": {"A": "(hidden)"},
        },
        "where": f"{bridle.home}/config.toml:14",
        "state": "disabled",
        "problem": "",
    }


def test_without_hooks_the_list_says_so(bridle: Bridle):
    done = bridle("hooks", "list")

    assert (done.code, done.out, done.err.splitlines()[0]) == (0, "", "no hooks yet")


def test_a_hook_is_tried_with_an_example(bridle: Bridle, guard: Path):
    done = bridle("hooks", "test", "guard")

    assert done.code == 0
    call = '{"tool_use_id":"call_1","name":"bash","args":{"command":"rm -rf build"}}'
    assert steady(done.out) == (
        "input\n"
        f'  {{"point":"pre_tool_execution","session_id":"ID","turn_number":1,"tool_call":{call},'
        f'"cwd":"{bridle.project}","agent":"default"}}\n'
        "output\n"
        '  {"decision": {"decision": "deny", "message": "no rm"}}\n'
        "deny (policy_violation): no rm  TIME\n"
    )


def test_a_hook_is_tried_with_another_example_or_an_invocation(bridle: Bridle, guard: Path, tmp_path: Path):
    call = {"tool_use_id": "c", "name": "bash", "args": {"command": "ls"}}
    invocation = json.dumps({"point": "pre_tool_execution", "session_id": "s", "tool_call": call})
    file = tmp_path / "call.json"
    file.write_text(invocation)

    other = json.loads(bridle("hooks", "test", "guard", "--point", "run_started", "--json").out)
    from_file = json.loads(bridle("hooks", "test", "guard", "--input", str(file), "--json").out)
    piped = bridle("hooks", "test", "guard", "--input", "-", "--json", stdin=invocation)

    assert other["invocation"]["point"] == "run_started"
    assert {**from_file, "duration_ms": 0} == {
        "invocation": json.loads(invocation),
        "answer": "{}",
        "verdict": "no opinion",
        "message": "",
        "reason_code": "",
        "patches": [],
        "ignored": [],
        "duration_ms": 0,
    }
    assert json.loads(piped.out)["verdict"] == "no opinion"


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("print('oops')", "failed: its answer is invalid: JSON is malformed: "),
        ("sys.exit('broken')", "failed: exit status 1: broken  "),
        ("pass", "failed: its answer is invalid: it printed nothing  "),
    ],
)
def test_a_hook_that_fails_has_exit_code_1(bridle: Bridle, guard: Path, body: str, verdict: str):
    guard.write_text(f"{shebang(options='-IS')}import sys\n{body}\n")

    done = bridle("hooks", "test", "guard")

    assert done.code == 1
    assert done.out.splitlines()[-1].startswith(verdict)


def test_what_is_beyond_its_capability_is_told(bridle: Bridle, guard: Path):
    (bridle.home / "config.toml").write_text(CONFIG.replace('capability = "guardrail"\n', ""))

    done = bridle("hooks", "test", "guard")

    assert (done.code, done.err) == (0, "warning: ignored: guard: an observe hook cannot deny\n")
    assert done.out.splitlines()[-1].startswith("no opinion  ")


def test_wrong_usage_is_told(bridle: Bridle, guard: Path):
    assert bridle("hooks", "test", "gard") == Done(
        1, "", "error: unknown hook gard\nhint: did you mean guard?\n"
    )
    assert bridle("hooks", "test", "guard", "--input", "/no/such").code == 64
    assert bridle("hooks", "test", "guard", "--input", "-", stdin="{}").err.startswith(
        "error: -: is not an invocation: Object missing required field `point`\n"
    )
    guard.unlink()
    assert bridle("hooks", "test", "guard") == Done(
        1,
        "",
        f'error: {bridle.home}/config.toml:1: hook "guard": runtime.command: {guard} is missing\n'
        "hint: bridle hooks list\n",
    )


def test_a_hook_of_a_project_that_is_not_trusted_is_not_run(bridle: Bridle):
    (bridle.project / ".bridle").mkdir(exist_ok=True)
    (bridle.project / ".bridle/config.toml").write_text(
        "[[hooks.entries]]\nid = 'x'\nruntime = { type = 'command', command = 'touch', args = ['made'] }\n"
    )

    done = bridle("hooks", "test", "x")

    assert done == Done(
        1, "", 'error: hook "x" belongs to a project that is not trusted\nhint: bridle trust\n'
    )
    assert not (bridle.project / "made").exists()


REFUSE = """
[[hooks.entries]]
id = "closed"
point = "run_started"
capability = "guardrail"
runtime = { type = "command", command = "/bin/sh", args = ["-c", "cat > /dev/null; echo nonsense"] }
"""


def test_a_run_is_refused_by_a_guardrail_that_fails(bridle: Bridle):
    (bridle.home / "config.toml").write_text(REFUSE)
    model = bridle.script({"text": "hello"})

    done = bridle("run", "-p", "--model", model, "hi")

    assert (done.code, done.out) == (77, "")
    assert "hook closed refused (runtime_error): its answer is invalid" in done.err


def test_there_is_no_run_without_a_guardrail_that_is_missing(bridle: Bridle, guard: Path):
    guard.unlink()

    done = bridle("run", "-p", "--model", bridle.script({"text": "hello"}), "hi")

    assert (done.code, done.out) == (1, "")
    assert f'hook "guard": runtime.command: {guard} is missing' in done.err


CLAUDE = {
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}],
        "SessionStart": [{"hooks": [{"type": "command", "command": "date"}]}],
    }
}


def test_a_hook_to_leave_out_that_there_is_none_of_is_refused(bridle: Bridle, guard: Path):
    model = bridle.script({"text": "All done."})
    wrong = bridle("run", "--model", model, "--no-hook", "gard", "go")
    right = bridle("run", "--model", model, "--no-hook", "guard", "go")
    (bridle.home / "config.toml").unlink()
    none = bridle("run", "--model", model, "--no-hook", "guard", "go")

    assert wrong == Done(64, "", 'error: --no-hook: unknown hook "gard"\nhint: there are guard, log, off\n')
    assert right == Done(0, "All done.\n", "")
    assert none == Done(64, "", 'error: --no-hook: unknown hook "guard"\nhint: there are none here\n')


def test_hooks_of_claude_code_are_taken_over(bridle: Bridle, tmp_path: Path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(CLAUDE))

    first = bridle("hooks", "import", str(file))
    again = bridle("hooks", "import", str(file))
    tried = bridle("hooks", "test", "claude-pre-tool-use-1")

    assert (first.code, first.out) == (
        0,
        "claude-pre-tool-use-1  pre_tool_execution  /bin/sh -c echo no >&2; exit 2\n",
    )
    assert first.err.startswith("warning: not imported: SessionStart: unknown hook point\n")
    assert again.out == ""
    assert tried.out.splitlines()[-1].startswith("deny (policy_violation): no  ")


def test_hooks_are_taken_over_into_a_project(bridle: Bridle, tmp_path: Path):
    file = tmp_path / "settings.json"
    file.write_text(json.dumps(CLAUDE))

    done = bridle("hooks", "import", str(file), "--project", "--json")

    told = json.loads(done.out)
    assert [entry["id"] for entry in told["added"]] == ["claude-pre-tool-use-1"]
    assert told["left_out"] == ["SessionStart: unknown hook point"]
    assert "claude-pre-tool-use-1" in (bridle.project / ".bridle/config.toml").read_text()


def test_the_schema_of_hooks_is_printed(bridle: Bridle):
    done = bridle("schema", "hooks")

    assert (done.code, sorted(json.loads(done.out))) == (
        0,
        ["$defs", "$schema", "entry", "override", "points", "title"],
    )
