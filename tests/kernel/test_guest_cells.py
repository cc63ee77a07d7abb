"""Cells: what they can use, what is echoed, where their output goes, how they end."""

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernel.guest_host import PEAK_KB, Cell, Host, interpreters, last_line

every_python = pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.rpartition("/")[2])


@pytest.fixture(scope="module")
def shared():
    """One guest for tests whose cells leave nothing that another could stumble over."""
    with Host() as host:
        yield host


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("1 + 1", "2\n"),
        ("None", ""),
        ("", ""),
        ("# nothing", ""),
        ("'a\\n'", "'a\\n'\n"),
        ("1\n2", "2\n"),
        ("x = 3", ""),
        ("x = 3; x", "3\n"),
        ("for i in range(2): i", ""),
        ("print('a', end='')\nprint('b')", "ab\n"),
        ("def f():\n    return 1\nf()", "1\n"),
        ("(yes := 5)", "5\n"),
        ("'é' + chr(0x1F600)", "'é😀'\n"),
        ("__name__", "'__main__'\n"),
        ("import sys; sys.modules['__main__'].__dict__ is globals()", "True\n"),
        ("import json; json.dumps([1])", "'[1]'\n"),
        ("json.loads('[1]')", "[1]\n"),
        ("asyncio.sleep.__name__", "'sleep'\n"),
        ("import asyncio\nawait asyncio.sleep(0, 'slept')", "'slept'\n"),
        ("[i for i in range(3)]", "[0, 1, 2]\n"),
        ("async def g():\n    yield 1\n    yield 2\n[x async for x in g()]", "[1, 2]\n"),
        ("async with asyncio.Lock() as lock:\n    print('held')", "held\n"),
        ("exit()", ""),
        ("import sys\nsys.exit(0)", ""),
        ("exit", "exit() ends this cell; variables are kept\n"),
        ("message('x')", ""),
    ],
)
def test_what_a_cell_shows(shared, code, output):
    cell = shared.run(code)

    assert (cell.output, cell.error) == (output, None)


def test_the_last_value_is_underscore(shared):
    shared.run("41")

    assert [shared.run("_ + 1").output, shared.run("_").output, shared.run("None\n").output] == [
        "42\n",
        "42\n",
        "",
    ]
    assert shared.run("_").output == "42\n"


@every_python
def test_output_of_every_origin_keeps_its_order(python):
    code = (
        "import os, sys, subprocess, warnings\n"
        "print('one')\nsys.stderr.write('two\\n')\nos.write(1, b'three\\n')\nos.write(2, b'four\\n')\n"
        "os.system('echo five')\nsubprocess.run(['echo', 'six'])\n"
        "print('sev', end='')\nsys.stderr.write('en\\n')\n"
        "warnings.warn('eight')\n"
    )
    with Host(python=python) as whole, Host(python=python, output="stream") as stream:
        outputs = [host.run(code).output.splitlines() for host in (whole, stream)]

    assert outputs[0] == outputs[1]
    assert outputs[0][:7] == ["one", "two", "three", "four", "five", "six", "seven"]
    assert outputs[0][7] == "<cell 1>:10: UserWarning: eight"


@every_python
def test_an_error_shows_the_lines_of_cells_and_none_of_ours(python):
    with Host(python=python) as host:
        host.run("def divide(a, b):\n    return a / b")
        error = host.run("print('before')\ndivide(1, 0)\nprint('after')")

    assert error.output == "before\n"
    shown = [line for line in error.error.splitlines() if set(line.strip()) - set("~^")]
    assert shown == [
        "Traceback (most recent call last):",
        '  File "<cell 2>", line 2, in <module>',
        "    divide(1, 0)",
        '  File "<cell 1>", line 2, in divide',
        "    return a / b",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "echo(object())",
        "await fail('no')",
        "import asyncio\nawait asyncio.gather(fail('no'), echo(1))",
        "[fail('no') for _ in 'a']",
        "(lambda: fail('no'))()",
        "async def f():\n    return await fail('no')\nawait f()",
        "import asyncio\nasyncio.run(fail('no'))",
        "message('x', kind='odd')",
        "echo()",
        "input('? ')",
        "class A:\n    def __repr__(self): return 1 / 0\nA()",
        "for",
        "  x = 1",
        "return 1",
        "raise ValueError('a') from KeyError('b')",
    ],
)
def test_no_error_shows_a_frame_of_ours(shared, code):
    error = shared.run(code).error

    assert "guest.py" not in error
    assert "<tool>" not in error
    assert "<frozen" not in error


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("f(", "    f("),
        ("if x:\ny", "    y"),
        ("x = 1\nreturn x", "    return x"),
        ("a = b = = 1", "    a = b = = 1"),
    ],
)
@every_python
def test_a_syntax_error_shows_where(python, code, text):
    with Host(python=python) as host:
        lines = host.run("print('never')\n" + code).error.splitlines()

    assert lines[0].startswith('  File "<cell 1>", line ')
    assert lines[1] == text
    assert lines[2].strip() in ("^", "^" * len(lines[2].strip()))
    assert lines[3].partition(":")[0] in ("SyntaxError", "IndentationError")


def test_a_syntax_error_runs_nothing(shared):
    assert shared.run("print('never')\nfor").output == ""


@pytest.mark.parametrize(
    ("code", "last"),
    [
        ("exit(3)", "SystemExit: 3"),
        ("import sys\nsys.exit('why')", "SystemExit: why"),
        ("raise SystemExit(2)", "SystemExit: 2"),
        (
            "input()",
            "EOFError: input() does not work in a cell; put the value into the code",
        ),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        (
            "class E(Exception):\n    def __str__(self): raise ValueError\nraise E",
            "E: <exception str() failed>",
        ),
        ("x = '\\ud800'\nraise ValueError(x)", "ValueError: \\ud800"),
        ("def f(): f()\nf()", "RecursionError: maximum recursion depth exceeded"),
        ("1 +", "SyntaxError: invalid syntax"),
        ("undefined", "NameError: name 'undefined' is not defined"),
    ],
)
def test_how_a_cell_fails(shared, code, last):
    assert last_line(shared.run(code).error) == last


def test_what_has_no_place_in_source_is_an_error(shared):
    assert shared.run("x = '\0'").error
    assert shared.run("'\ud800'").error
    assert shared.run("1").output == "1\n"


def test_half_characters_are_escaped(shared):
    assert shared.run("print('a\\ud800b')").output == "a\\ud800b\n"
    assert shared.run("import os\nos.write(1, b'\\xff|')\nNone").output == "\ufffd|"
    assert shared.run("message('\\udc80')").messages == (("\\udc80", "progress"),)


def test_chained_errors_are_shown(shared):
    error = shared.run("try:\n    {}['key']\nexcept KeyError:\n    1 / 0").error

    assert "KeyError: 'key'" in error
    assert "During handling of the above exception" in error
    assert last_line(error) == "ZeroDivisionError: division by zero"


def test_groups_of_errors_are_shown(shared):
    error = shared.run("raise ExceptionGroup('several', [ValueError('a'), KeyError('b')])").error

    assert "ValueError: a" in error
    assert "KeyError: 'b'" in error


def test_a_long_error_is_cut(shared):
    error = shared.run("raise ValueError('x' * 1_000_000)").error

    assert 60_000 < len(error) < 70_000
    assert "characters left out" in error


def test_the_source_of_a_cell_can_be_read():
    with Host() as host:
        host.run("def sourced():\n    return 1  # here")

        code = "import inspect\ndef too(): pass\nprint(inspect.getsource(sourced) + inspect.getsource(too))"
        assert host.run(code).output == "def sourced():\n    return 1  # here\ndef too(): pass\n\n"


def test_long_output_keeps_head_and_tail_and_takes_little_memory():
    with Host() as host:
        output = host.run(
            "print('head')\nline = 'x' * 1_000_000\nfor _ in range(30): print(line)\nprint('tail')"
        ).output
        peak = int(host.run(PEAK_KB).output)

    half = 5 * 1024 * 1024
    note = f"\n[{30 * 1_000_001 + 10 - 2 * half} bytes left out]\n"
    assert (output[:5], output[half : half + len(note)], output[-6:]) == ("head\n", note, "\ntail\n")
    assert len(output) == 2 * half + len(note)
    assert peak < 200_000


def test_a_project_does_not_shadow_the_standard_library(tmp_path):
    (tmp_path / "json.py").write_text("raise SystemExit('shadow')")
    (tmp_path / "mine.py").write_text("value = 7")
    with Host(cwd=tmp_path) as host:
        assert host.run("import json, mine\njson.dumps(mine.value)") == Cell("'7'\n")


@every_python
def test_site_packages_are_found_when_they_are_wanted(python, tmp_path):
    (tmp_path / "lib").mkdir()
    with Host(python=python, cwd=tmp_path) as host:
        assert host.run("import sys\n'site' in sys.modules").output == "False\n"
        assert (
            last_line(host.run("import no_such_thing").error)
            == "ModuleNotFoundError: No module named 'no_such_thing'"
        )
        shown = host.run(
            "places = [('-packages' in one, one == '') for one in sys.path]\nprint('site' in sys.modules)"
        )
        assert shown.output == "True\n"
        order = ast.literal_eval(host.run("places").output)
        assert order.index((False, True)) < order.index((True, False))
        assert order.count((False, True)) == 1


def test_background_tasks_run_on_during_later_cells(shared):
    shared.run(
        "import asyncio\nseen = []\nasync def tick():\n    while True:\n"
        "        seen.append(1)\n        await asyncio.sleep(0)"
    )
    shared.run("task = asyncio.create_task(tick())")
    first = int(shared.run("len(seen)").output)
    second = int(shared.run("len(seen)").output)
    shared.run("task.cancel()")

    assert 0 < first < second


@every_python
def test_kaml_mode_goes_on_after_an_error(python):
    with Host(python=python, mode="kaml") as host:
        cell = host.run("1\n'two'\n1 / 0\nprint('still runs')\nawait echo(3)\n_")

        assert (cell.error, cell.output.splitlines()[:3]) == (
            None,
            ["1", "'two'", "Traceback (most recent call last):"],
        )
        assert cell.output.splitlines()[-4:] == [
            "ZeroDivisionError: division by zero",
            "still runs",
            "3",
            "3",
        ]
        assert host.run("for i in range(2): i").output == "0\n1\n"
        broken = host.run("print(1)\nfor")
        assert (broken.error, last_line(broken.output)) == (None, "SyntaxError: invalid syntax")
        assert host.run("message('m', kind='odd')").messages == (("m", "odd"),)


literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    literals, st.sampled_from(["{}", "({},)", "[{0}, {0}]", "x = {}\nx", "{{1: {}}}", "print(end='')\n({})"])
)
def test_an_expression_is_echoed_as_by_the_interpreter(shared, value, shape):
    text = shape.format(ascii(value).replace("nan", "float('nan')").replace("inf", "float('inf')"))
    space: dict[str, object] = {}
    *before, last = text.split("\n")
    exec("\n".join(before), space)
    expected = eval(last, space)

    assert shared.run(text) == Cell(
        "" if expected is None else f"{expected!r}\n".encode("utf-8", "backslashreplace").decode()
    )
