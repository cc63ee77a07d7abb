"""Tools in a cell: real async functions, checked arguments, results, failures, loops and threads."""

import pytest

from tests.kernel.guest_host import ADD, ECHO, FAIL, Cell, Host, interpreters, last_line

every_python = pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.rpartition("/")[2])

SEARCH = {
    "name": "web-search",
    "description": "Search the web.\n\nOnly the first page.",
    "params": [
        {"name": "from", "type": "integer", "required": False, "description": "where to begin"},
        {"name": "query", "type": "string", "required": True, "description": "what to look for"},
        {"name": "kinds", "type": "array", "required": False},
    ],
    "returns": "object",
}


@pytest.fixture(scope="module")
def shared():
    with Host(tools=[ECHO, ADD, FAIL, SEARCH]) as host:
        yield host


@every_python
def test_a_tool_is_a_real_async_function_that_explains_itself(python):
    code = (
        "import inspect\n"
        "print(inspect.iscoroutinefunction(web_search), "
        "inspect.isfunction(web_search), web_search.__name__)\n"
        "print(inspect.signature(web_search))\n"
        "print(web_search.__doc__)\n"
        "print(web_search.__annotations__['query'], add.__defaults__)\n"
    )
    with Host(python=python, tools=[ADD, SEARCH]) as host:
        output = host.run(code).output

    assert output == (
        "True True web_search\n"
        "(query: str, from_: int = None, kinds: list = None) -> dict\n"
        "Search the web.\n\nOnly the first page.\n\n"
        "Args:\n    query: what to look for\n    from_: where to begin\n    kinds:\n\nReturns: dict\n"
        "<class 'str'> (None,)\n"
    )


def test_help(shared):
    output = shared.run("help(add)").output

    assert output.splitlines()[:4] == [
        "Help on function add in module __main__:",
        "",
        "async add(a: float, b: float = None) -> float",
        "    Add two numbers.",
    ]


def test_help_without_an_object_shows_the_tools(shared):
    assert shared.run("help()").output == shared.run("list_tools()").output


def test_list_tools(shared):
    assert shared.run("list_tools()").output == (
        "Available tools:\n"
        "  echo(value: any) -> any\n      Give back a value.\n"
        "  add(a: float, b: float = None) -> float\n      Add two numbers.\n"
        "  fail(why: any) -> str\n      Refuse.\n"
        "  web_search(query: str, from_: int = None, kinds: list = None) -> dict\n"
        "      Search the web.\n      \n      Only the first page.\n"
    )


@pytest.mark.parametrize(
    ("code", "sent"),
    [
        ("await add(1, 2)", {"a": 1, "b": 2}),
        ("await add(b=2, a=1)", {"a": 1, "b": 2}),
        ("await add(1)", {"a": 1}),
        ("await add(1, None)", {"a": 1}),
        ("await add(*[1], **{'b': 2})", {"a": 1, "b": 2}),
    ],
)
def test_arguments(shared, code, sent):
    assert shared.run(code).calls == (("add", sent),)


def test_names_that_python_cannot_say_are_sent_as_they_are(shared):
    cell = shared.run("await web_search('x', from_=3)", answer=lambda name, args: args)

    assert cell == Cell("{'query': 'x', 'from': 3}\n", calls=(("web-search", {"query": "x", "from": 3}),))


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("add()", "TypeError: add() missing 1 required positional argument: 'a'"),
        ("add(1, 2, 3)", "TypeError: add() takes from 1 to 2 positional arguments but 3 were given"),
        ("add(1, c=2)", "TypeError: add() got an unexpected keyword argument 'c'"),
        ("await echo(b'x')", "TypeError: echo(): argument 'value' cannot be sent: bytes is not JSON"),
        ("await echo(float('nan'))", "ValueError: echo(): argument 'value' cannot be sent"),
        ("x = []\nx.append(x)\nawait echo(x)", "ValueError: echo(): argument 'value' cannot be sent"),
        ("await echo('\\ud800')", "ValueError: echo(): argument 'value' cannot be sent: 'utf-8' codec"),
        ("await echo('x' * 8_000_000)", "ValueError: echo(): the arguments are 8000012 characters"),
        ("await fail('not today')", "ToolError: not today"),
        (
            "message('x', kind='odd')",
            'ValueError: message(): kind must be "progress" or "final", not \'odd\'',
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(shared, code, error):
    cell = shared.run(code)

    assert last_line(cell.error).startswith(error)
    assert [name for name, _ in cell.calls] == (["fail"] if "fail" in code else [])


@pytest.mark.parametrize(
    "value",
    ["None", "True", "1.5", "'é\\n'", "[1, [2]]", "{'a': {'b': None}}", "10 ** 30"],
)
def test_values_go_and_come(shared, value):
    expected = repr(eval(value))
    cell = shared.run(f"same = await echo({value})\nsame, type(same) is type({value})")

    assert cell.output == f"({expected}, True)\n"


def test_obvious_kinds_are_made_plain(shared):
    cell = shared.run("from pathlib import Path\nawait echo([Path('a/b'), {1}, (2, 3)])")

    assert cell.output == "['a/b', [1], [2, 3]]\n"


def test_a_result_that_is_no_json_is_its_text(shared):
    key = shared.start("await echo(1)")
    call = shared.receive()
    shared.send(type="tool_result", id=call["id"], success=True, result="plain {text")

    assert shared.run("", key=key) == Cell("'plain {text'\n")


def test_a_failure_can_be_caught_by_its_name(shared):
    cell = shared.run(
        "try:\n    await fail('x')\nexcept ToolError as e:\n    print(repr(e), isinstance(e, Exception))"
    )

    assert cell.output == "ToolError('x') True\n"


def test_results_that_nobody_waits_for_are_ignored(shared):
    shared.send(type="tool_result", id="999", success=True, result="1")
    shared.send(type="tool_result")

    assert shared.run("1").output == "1\n"


def test_gather_sends_all_calls_before_any_result(shared):
    key = shared.start("import asyncio\nawait asyncio.gather(echo('a'), echo('b'), echo('c'))")
    calls = [shared.receive() for _ in range(3)]
    for call in reversed(calls):
        shared.send(type="tool_result", id=call["id"], success=True, result=call["args"])

    assert shared.run("", key=key) == Cell("[{'value': 'a'}, {'value': 'b'}, {'value': 'c'}]\n")


@every_python
def test_calls_work_on_any_loop_and_thread(python):
    code = (
        "import asyncio, threading\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "found = []\n"
        "def blocking(): found.append(echo('blocking'))\n"
        "async def both(): return await asyncio.gather(echo('a'), echo('b'))\n"
        "def looping(): found.append(asyncio.run(both()))\n"
        "for target in (blocking, looping):\n"
        "    thread = threading.Thread(target=target)\n"
        "    thread.start()\n"
        "    thread.join()\n"
        "with ThreadPoolExecutor(4) as pool: found.append(list(pool.map(lambda i: echo(i), range(8))))\n"
        "def own(): return asyncio.run(both())\n"
    )
    with Host(python=python) as host:
        assert host.run(code).error is None
        assert host.run("found.append(own())\nfound").output == (
            "['blocking', ['a', 'b'], [0, 1, 2, 3, 4, 5, 6, 7], ['a', 'b']]\n"
        )
        assert host.run("await asyncio.to_thread(lambda: echo('in a thread'))").output == "'in a thread'\n"


def test_a_thread_gets_its_result_while_no_cell_runs(shared):
    code = (
        "import threading\nbox, go = [], threading.Event()\n"
        "def later():\n    go.wait()\n    box.append(echo('late'))\n    message('done')\n"
        "thread = threading.Thread(target=later)\nthread.start()\n"
    )
    shared.run(code)
    key = shared.start("go.set()")
    frames = [shared.receive(), shared.receive()]
    call = next(one for one in frames if one["type"] == "tool_call")
    assert {one.get("id") for one in frames} == {key, call["id"]}
    shared.send(type="tool_result", id=call["id"], success=True, result='"late"')

    assert shared.receive()["text"] == "done"
    assert shared.run("thread.join()\nbox").output == "['late']\n"


def test_a_call_that_was_given_up_does_not_disturb(shared):
    key = shared.start(
        "import asyncio\ntry:\n    await asyncio.wait_for(echo(1), 0.01)\n"
        "except asyncio.TimeoutError:\n    print('gave up')"
    )
    call = shared.receive()

    assert shared.run("", key=key) == Cell("gave up\n")
    shared.send(type="tool_result", id=call["id"], success=True, result="1")
    assert shared.run("await echo(2)").output == "2\n"


def test_messages(shared):
    cell = shared.run(
        "message('one')\nmessage(2, 'progress')\n"
        "await message('first', kind='final')\nmessage('last', 'final')"
    )

    assert cell.messages == (("one", "progress"), ("2", "progress"), ("first", "final"), ("last", "final"))
    assert (cell.output, cell.response) == ("", "last")
    assert shared.run("1").response == ""


@pytest.mark.parametrize(("init", "told"), [({"cancels": True}, ["tool_cancel"]), ({}, [])])
def test_a_call_that_nobody_waits_for_any_more_is_given_up_if_the_host_wants_to_know(init, told):
    code = "try:\n    await asyncio.wait_for(echo(1), 0.01)\nexcept asyncio.TimeoutError: print('late')"
    with Host(**init) as host:
        host.start(code)
        call = host.receive()
        found = [host.receive() for _ in range(len(told) + 1)]

    assert [(frame["type"], frame["id"]) for frame in found] == [
        *((kind, call["id"]) for kind in told),
        ("exec_result", "c1"),
    ]


def test_an_answered_call_is_not_given_up():
    with Host(cancels=True) as host:
        host.start("await asyncio.gather(echo(1), add(1, 2))")
        for call in (host.receive(), host.receive()):
            host.send(type="tool_result", id=call["id"], success=True, result="1")

        assert host.receive()["type"] == "exec_result"
