"""The protocol: the first version's tables and flows, then Bridle's extensions."""

import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.guest_host import ADD, ECHO, GUEST, Cell, Gone, Host, interpreters
from tests.kernel.seed_host import SeedHost

DEFINITIONS = json.dumps(
    [
        {
            "name": "read",
            "description": "Read a file.",
            "params": [
                {"name": "path", "type": "str", "description": "which", "required": True},
                {"name": "start", "type": "int", "required": False},
                {"name": "end", "type": "int", "required": False},
            ],
            "returns": "str",
        },
        {"name": "meet", "description": "Wait for two others.", "params": ["who"], "returns": "str"},
    ]
)


def tools() -> dict[str, Any]:
    barrier = threading.Barrier(3, timeout=10)

    def read(path: str, **limits: int) -> str:
        if path == "missing":
            raise FileNotFoundError("no such file: missing")
        return f"{path} {sorted(limits.items())}"

    def meet(who: str) -> str:
        barrier.wait()
        return who.upper()

    return {"read": read, "meet": meet}


@pytest.fixture(params=interpreters(), ids=lambda path: Path(path).name + "@" + Path(path).parents[1].name)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SeedHost]:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    env = {"SCRATCH_DIR": str(scratch), "PATH": "/usr/bin:/bin"}
    with SeedHost([request.param, GUEST], tools(), DEFINITIONS, env=env, cwd=tmp_path) as started:
        yield started


# Python -> host, and the rows that ask for them


def test_ready_answers_init(host):
    assert host.ready["type"] == "ready"
    assert re.fullmatch(r"3\.\d+\.\d+", host.ready["python"])


def test_exec_result_answers_exec(host):
    assert host.ask("exec", code="print('out')\n6 * 7") == {
        "type": "exec_result",
        "id": "id-1",
        "output": "out\n42\n",
        "response": "",
        "error": None,
    }


def test_exec_result_has_the_error(host):
    result = host.ask("exec", code="print('before')\nopen('/nowhere/at/all')\nprint('after')")

    assert result["output"] == "before\n"
    assert result["error"].splitlines()[-1].startswith("FileNotFoundError: [Errno 2]")


def test_tool_call_and_tool_result(host):
    result = host.ask("exec", code="print(await read('a.txt', end=3))")

    called = [one for one in host.heard if one["type"] == "tool_call"]
    assert [(one["name"], json.loads(one["args"])) for one in called] == [
        ("read", {"path": "a.txt", "end": 3})
    ]
    assert result["output"] == "a.txt [('end', 3)]\n"


def test_tool_result_without_success_raises(host):
    result = host.ask(
        "exec", code="try:\n    await read('missing')\nexcept Exception as e:\n    print('failed:', e)"
    )

    assert (result["output"], result["error"]) == ("failed: no such file: missing\n", None)


def test_message(host):
    result = host.ask(
        "exec", code='message("half way", kind="progress")\nawait message("all done", kind="final")'
    )

    said = [(one["text"], one["kind"]) for one in host.heard if one["type"] == "message"]
    assert said == [("half way", "progress"), ("all done", "final")]
    assert (result["output"], result["response"]) == ("", "all done")


def test_snapshot_result_and_restore(host, tmp_path):
    host.ask("exec", code="import os\nx = {'a': [1, 2.5, None, 'é']}\ny = 'text'")
    host.ask("exec", code="open(os.environ['SCRATCH_DIR'] + '/note.txt', 'w').write('kept\\n')")
    taken = host.ask("snapshot")

    state = json.loads(taken["data"])
    assert (taken["type"], taken["id"]) == ("snapshot_result", "id-3")
    assert state["vars"] == {"x": {"a": [1, 2.5, None, "é"]}, "y": "text"}
    assert state["files"] == {"note.txt": "kept\n"}

    host.ask("exec", code="x = y = None\nos.remove(os.environ['SCRATCH_DIR'] + '/note.txt')")
    restored = host.ask("restore", data=taken["data"])
    assert restored == {"type": "exec_result", "id": "id-5", "output": "", "response": "", "error": None}
    assert host.ask("exec", code="x, y")["output"] == "({'a': [1, 2.5, None, 'é']}, 'text')\n"
    assert (tmp_path / "scratch" / "note.txt").read_text() == "kept\n"


def test_restore_takes_a_bare_object_of_variables(host):
    assert host.ask("restore", data='{"n": 3}')["error"] is None
    assert host.ask("exec", code="n + 1")["output"] == "4\n"


def test_shutdown_ends_it(host):
    assert host.shutdown() == 0


def test_the_end_of_stdin_ends_it(host):
    assert host.hang_up() == 0


# The two flows


def test_the_flow_of_an_execution(host):
    code = "a = await read('one')\nb = await read('two')\nmessage(a, kind='progress')\nprint(b)"
    host.ask("exec", code=code)

    assert [one["type"] for one in host.heard[1:]] == ["tool_call", "tool_call", "message", "exec_result"]


def test_the_flow_of_concurrent_calls(host):
    """All three meet at a barrier: one after the other would never end."""
    code = "import asyncio\nprint(await asyncio.gather(meet('a'), meet('b'), meet('c')))"
    result = host.ask("exec", code=code)

    assert [one["type"] for one in host.heard[1:4]] == ["tool_call"] * 3
    assert result["output"] == "['A', 'B', 'C']\n"


def test_state_lasts_from_cell_to_cell(host):
    host.ask("exec", code="def double(x):\n    return 2 * x")
    host.ask("exec", code="value = double(21)")

    assert host.ask("exec", code="value")["output"] == "42\n"


def test_the_functions_say_how_they_are_called(host):
    result = host.ask(
        "exec", code="import inspect\nprint(inspect.signature(read), inspect.iscoroutinefunction(read))"
    )

    assert result["output"] == "(path: str, start: int = None, end: int = None) -> str True\n"


def test_unknown_types_and_broken_lines_are_ignored(host):
    host.send({"type": "dance", "id": "1"})
    host._process.stdin.write(b"\xff\xfe{\n[1,2]\n\n{}\n" + b"[" * 100_000 + b"\n")

    assert host.ask("exec", code="'still here'")["output"] == "'still here'\n"


# Our additions


def test_ready_says_what_we_can():
    with Host() as host:
        assert host.ready == {
            "type": "ready",
            "protocol": 1,
            "capabilities": ["interrupt", "reset", "stream", "rich", "signals"],
            "python": ".".join(map(str, sys.version_info[:3])),
        }


def test_a_stream_arrives_while_the_cell_runs():
    with Host(output="stream") as host:
        key = host.start("print('first')\necho(1)\nprint('second')")
        call = host.receive()
        assert (call["type"], call["exec"], host.taken()) == ("tool_call", key, "first\n")

        host.send(type="tool_result", id=call["id"], success=True, result="1")
        assert host.run("", key=key) == Cell("second\n")


def test_the_value_of_a_cell_comes_with_its_result():
    with Host(output="stream") as host:
        host.start("print('first')\n'second'")
        result = host.receive()

        assert (host.taken(), result["output"]) == ("first\n", "'second'\n")


def test_a_long_value_is_printed():
    with Host(output="stream") as host:
        host.start("'x' * 100_000")
        host.wait_for_output(b"x'\n")
        result = host.receive()

        assert (host.taken(), result["output"]) == ("'" + "x" * 100_000 + "'\n", "")


def test_the_value_in_a_forked_child_is_printed():
    with Host(output="stream") as host:
        host.run("import os")
        host.start("os.fork() or 'child'")
        host.wait_for_output(b"'child'\n")
        result = host.receive()

        assert (host.taken(), result["output"].strip().isdecimal()) == ("'child'\n", True)


def test_half_characters_of_a_value_are_escaped():
    with Host(output="stream") as host:
        host.run("class Odd:\n    def __repr__(self): return '\\ud800'")

        assert host.run("Odd()").output == "\\ud800\n"


def test_a_message_names_its_cell():
    with Host() as host:
        key = host.start("message('hi')")

        assert host.receive() == {"type": "message", "text": "hi", "kind": "progress", "exec": key}


def test_orders_that_come_early_wait_their_turn():
    with Host() as host:
        first, second = host.start("x = 1\necho(x)"), host.start("x + 1")
        host.send(type="snapshot", id="s")

        assert host.run("", key=first) == Cell("1\n", calls=(("echo", {"value": 1}),))
        assert host.run("", key=second) == Cell("2\n")
        assert json.loads(host.receive()["data"])["vars"] == {"x": 1}


def test_everything_sent_at_once_is_done_before_it_ends():
    frames = [
        {"type": "init", "tools": "[]"},
        {"type": "exec", "id": "a", "code": "x = 20"},
        {"type": "exec", "id": "b", "code": "x + 1"},
    ]
    lines = "".join(json.dumps(one) + "\n" for one in frames)
    done = subprocess.run(
        [sys.executable, GUEST], input=lines.encode(), capture_output=True, timeout=10, check=True
    )

    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one.get("id"), one.get("output")) for one in answers] == [(None, None), ("a", ""), ("b", "21\n")]


def test_a_later_init_replaces_the_tools():
    with Host(tools=[ECHO]) as host:
        host.run("kept = 1")
        host.send(type="init", tools=json.dumps([ADD]))
        assert host.receive()["type"] == "ready"

        assert host.run("kept + add(1, 2)").output == "4\n"
        assert host.run("echo(1)").error.endswith("NameError: name 'echo' is not defined")


def test_bad_definitions_give_no_tools_and_no_end():
    with Host(tools=[{"no": "name"}, 3], output="stream") as host:
        assert "cannot be read" in host.printed.decode() + host.run("1").output
        assert host.run("1 + 1") == Cell("2\n")


def test_reset_makes_it_new(tmp_path):
    with Host(env={"SCRATCH_DIR": str(tmp_path)}, cwd=tmp_path) as host:
        host.run("import os, sys, builtins, asyncio\nx = 1\nbuiltins.len = None\nos.environ['A'] = 'b'")
        host.run("open('f', 'w').close()\nos.mkdir('d')\nos.chdir('d')\nsys.path.insert(0, '/x')\ndel echo")
        host.run(
            "async def on():\n    while True:\n"
            "        await asyncio.sleep(0.01)\ntask = asyncio.create_task(on())"
        )

        assert host.ask("reset") == {"type": "reset_result", "id": "ask", "threads": 0}
        assert list(tmp_path.iterdir()) == []
        seen = host.run(
            "import os, sys\n'x' in globals(), len('ab'), 'A' in os.environ, os.getcwd(), '/x' in sys.path"
        )
        assert seen == Cell(f"(False, 2, False, {str(tmp_path)!r}, False)\n")
        assert host.run("echo(5)").output == "5\n"


def test_reset_tells_of_threads_that_live_on():
    with Host() as host:
        host.run(
            "import threading\n"
            "stop = threading.Event()\nthreading.Thread(target=stop.wait, daemon=True).start()"
        )

        assert host.ask("reset")["threads"] == 1


def test_warm_has_imported_asyncio_before_it_is_ready():
    with Host(warm=True) as warm, Host() as cold:
        code = "import sys\n'asyncio' in sys.modules"
        assert (warm.run(code.replace("asyncio", "asynci' 'o")).output, cold.run(code).output) == (
            "True\n",
            "True\n",
        )


def test_only_modules_that_are_needed_are_loaded():
    """What is not imported is what makes a start quick."""
    heavy = ["asyncio", "json", "re", "ast", "traceback", "inspect", "enum", "typing", "threading", "site"]
    with Host() as host:
        names = ",".join(repr(one[:1] + "~" + one[1:]) for one in heavy)
        code = f"import sys\n[one for one in [{names}] if one.replace('~', '') in sys.modules]"

        assert host.run(code).output == "[]\n"


def test_the_end_of_its_output_ends_it():
    with Host() as host:
        host.close_stdout()
        host.start("1")

        assert host.wait() == 1


def test_a_host_that_is_gone_ends_even_a_cell_that_never_would():
    with Host() as host:
        key = host.start("message('on')\nwhile True: pass")
        assert (host.receive()["text"], key) == ("on", "c1")
        host.close_stdin()
        host.close_stdout()

        assert host.wait() == 1


def test_a_call_that_nobody_will_answer_fails():
    with Host() as host:
        key = host.start("echo(1)")
        host.receive()
        host.close_stdin()

        assert host.run("", key=key).error.endswith(
            "ToolError: the host is gone, so calls cannot be answered"
        )
        with pytest.raises(Gone):
            host.receive()
