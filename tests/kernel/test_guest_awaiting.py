"""Calls without `await`: the call is made and its value arrives, whatever the model leaves out."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.guest_host import Host, interpreters, last_line

every_python = pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.rpartition("/")[2])

CODES = [
    # not awaited at all
    ("echo('x')", "'x'"),
    ("x = echo('x')\nx", "'x'"),
    ("print(echo('x'))", "x"),
    ("echo(echo('n'))", "'n'"),
    ("await echo(echo('n'))", "'n'"),
    ("f'{echo(1)}-{await echo(2)}'", "'1-2'"),
    ("echo(1) + echo(2)", "3"),
    ("[echo(1), echo(2)]", "[1, 2]"),
    ("echo([1, 2])[1]", "2"),
    ("echo('a').upper()", "'A'"),
    ("if echo(True): print('yes')", "yes"),
    ("for i in echo([1, 2]): print(i)", "1\n2"),
    ("while echo(False): pass\nelse: print('out')", "out"),
    ("assert echo(1) == 1", ""),
    ("with open(echo('/dev/null')) as f: print(f.read() == '')", "True"),
    ("try:\n    fail('no')\nexcept ToolError as e:\n    print(e)", "no"),
    # functions
    ("def f(x): return echo(x)\nf(3)", "3"),
    ("def f(x):\n    y = echo(x)\n    return y + 1\nf(3)", "4"),
    ("def f(x=echo(5)): return x\nf()", "5"),
    ("def outer():\n    def inner(): return echo('in')\n    return inner()\nouter()", "'in'"),
    ("async def f(x): return echo(x)\nawait f(3)", "3"),
    ("async def f(x):\n    y = echo(x)\n    return y + 1\nawait f(3)", "4"),
    ("def g():\n    yield echo(1)\n    yield echo(2)\nlist(g())", "[1, 2]"),
    (
        (
            "class A:\n    x = echo(1)\n    def m(self): return echo(2)\n"
            "    async def n(self): return echo(3)\n(A.x, A().m(), await A().n())"
        ),
        "(1, 2, 3)",
    ),
    ("f = lambda x: echo(x)\nf(1)", "1"),
    ("sorted([3, 1, 2], key=lambda i: echo(-i))", "[3, 2, 1]"),
    ("list(map(lambda i: echo(i), [1, 2]))", "[1, 2]"),
    ("def f(echo): return echo(1)\nf(str)", "'1'"),
    ("def f(x): return echo(x)\nawait f(1)", "1"),
    ("def f(x): return echo(x)\nawait f(None)", ""),
    (
        "def f(x): return echo(x)\nimport asyncio\nawait asyncio.gather(f(1), f(None), f([2]))",
        "[1, None, [2]]",
    ),
    # comprehensions
    ("[echo(i) for i in range(3)]", "[0, 1, 2]"),
    ("{echo(i) for i in range(2)}", "{0, 1}"),
    ("{i: echo(i) for i in range(2)}", "{0: 0, 1: 1}"),
    ("list(echo(i) for i in range(2))", "[0, 1]"),
    ("sum(echo(i) for i in range(4))", "6"),
    ("[i for i in echo([1, 2])]", "[1, 2]"),
    ("[i for i in range(4) if echo(i % 2)]", "[1, 3]"),
    ("[[echo(i + j) for i in range(2)] for j in range(2)]", "[[0, 1], [1, 2]]"),
    ("[await echo(i) for i in range(3)]", "[0, 1, 2]"),
    ("any(echo(i) for i in [0, 1])", "True"),
    # collectors
    ("import asyncio\nawait asyncio.gather(echo(1), echo(2))", "[1, 2]"),
    ("from asyncio import gather\nawait gather(*[echo(i) for i in range(2)])", "[0, 1]"),
    ("await asyncio.gather(*(echo(i) for i in range(2)))", "[0, 1]"),
    ("await asyncio.gather(*map(echo, range(2)))", "[0, 1]"),
    ("await asyncio.gather(*map(lambda i: echo(i), [None, 1]))", "[None, 1]"),
    ("await asyncio.gather(*list(echo(i) for i in range(2)))", "[0, 1]"),
    ("asyncio.gather(echo(1), echo(2))\nawait asyncio.sleep(0)", ""),
    ("cs = [echo(i) for i in range(3)]\nawait asyncio.gather(*cs)", "[0, 1, 2]"),
    ("cs = []\nfor i in range(3): cs.append(echo(i))\nawait asyncio.gather(*cs)", "[0, 1, 2]"),
    ("cs = [echo(1)] + [echo(2)]\nawait asyncio.gather(*cs)", "[1, 2]"),
    ("cs = {'a': echo(1)}\nprint(dict(zip(cs, await asyncio.gather(*cs.values()))))", "{'a': 1}"),
    ("cs = {}\ncs['a'] = echo(None)\nfor k, c in cs.items(): print(k, await c)", "a None"),
    ("a, b = echo(None), echo(2)\nprint(await a, await b)", "None 2"),
    ("t = asyncio.create_task(echo(None))\nprint(await t)", "None"),
    ("ts = [asyncio.create_task(echo(i)) for i in range(2)]\n[await t for t in ts]", "[0, 1]"),
    (
        (
            "ts = [asyncio.ensure_future(echo(i)) for i in range(2)]\n"
            "done, _ = await asyncio.wait(ts)\nlen(done)"
        ),
        "2",
    ),
    ("await asyncio.wait_for(echo(1), 5)", "1"),
    ("f = asyncio.wait_for(echo(1), timeout=5)\nawait f", "1"),
    ("await asyncio.wait_for(asyncio.shield(echo(1)), 5)", "1"),
    ("for c in asyncio.as_completed([echo(7)]): print(await c)", "7"),
    ("c = echo(None)\nprint(await c)", "None"),
    ("await (echo(1) if True else echo(2))", "1"),
    ("timeout = echo(5)\nawait asyncio.wait_for(echo(1), timeout)", "1"),
    (
        (
            "async def f():\n    cs = [echo(None) for i in range(2)]\n"
            "    return await asyncio.gather(*cs)\nawait f()"
        ),
        "[None, None]",
    ),
    (
        (
            "async def one():\n    t = asyncio.create_task(echo(None))\n"
            "    return await t\nt = echo(5)\nprint(t, await one())"
        ),
        "5 None",
    ),
    (
        (
            "class B:\n    async def go(self):\n        self.cs = [echo(None)]\n"
            "        return await asyncio.gather(*self.cs)\nawait B().go()"
        ),
        "[None]",
    ),
    # asyncio.run
    ("asyncio.run(echo(4))", "4"),
    ("async def main(): return await echo(4)\nasyncio.run(main())", "4"),
    ("async def main(): return echo(4)\ndef start(): return asyncio.run(main())\n", ""),
    ("start()", "4"),
    # by another name
    ("say = echo\nsay('other')", "'other'"),
    ("say = echo\nawait say('other')", "'other'"),
    # a function of the user by the name of a tool
    ("def add(a): return -a\nadd(3)", "-3"),
    ("add(3)", "-3"),
    ("async def fail(why): return why\nawait fail('fine')", "'fine'"),
    ("await fail('fine')", "'fine'"),
    ("x = fail('fine')\nprint(type(x).__name__)\nawait x", "coroutine\n'fine'"),
]


@every_python
def test_every_form_gives_the_value(python):
    with Host(python=python, output="stream") as host:
        seen = [(code, *run(host, code)) for code, _ in CODES]

    assert seen == [(code, shown, None) for code, shown in CODES]


def run(host, code):
    cell = host.run(code)
    return cell.output.rstrip("\n"), cell.error


@every_python
def test_a_list_built_in_one_cell_can_be_awaited_in_the_next(python):
    values = ["'s'", "1", "1.5", "[1]", "{'a': 1}"]
    with Host(python=python) as host:
        host.run(f"cs = [echo(value) for value in [{', '.join(values)}]]\nimport asyncio")
        assert host.run("await asyncio.gather(*cs)").output == "['s', 1, 1.5, [1], {'a': 1}]\n"
        assert (
            host.run("[await asyncio.wait_for(c, 5) for c in cs]").output == "['s', 1, 1.5, [1], {'a': 1}]\n"
        )
        plain = "[type(await c) in (str, int, float, list, dict) for c in cs]"
        assert host.run(plain).output == "[True, True, True, True, True]\n"


def test_values_that_may_be_awaited_are_ordinary_otherwise():
    code = (
        "import pickle, copy\n"
        "s, n, f, l, d = echo('s'), echo(1), echo(1.5), echo([1]), echo({'a': 1})\n"
        "everything = [s, n, f, l, d]\n"
        "print(everything == ['s', 1, 1.5, [1], {'a': 1}], "
        "json.dumps(everything), s + 't', n + 1, l + [2], d | {})\n"
        "print([type(pickle.loads(pickle.dumps(x))).__mro__[1] is object for x in everything])\n"
        "print([isinstance(x, k) for x, k in zip(everything, "
        "(str, int, float, list, dict))], f'{s:>3}{n:03d}')\n"
        "print(copy.deepcopy(everything) == everything, [type(x).__name__ for x in everything])\n"
    )
    with Host() as host:
        assert host.run(code).output == (
            """True ["s", 1, 1.5, [1], {"a": 1}] st 2 [1, 2] {'a': 1}\n"""
            "[True, True, True, True, True]\n"
            "[True, True, True, True, True]   s001\n"
            "True ['str', 'int', 'float', 'list', 'dict']\n"
        )


def test_collected_calls_are_sent_together():
    with Host() as host:
        key = host.start("import asyncio\ncs = [echo(i) for i in range(3)]\nawait asyncio.gather(*cs)")
        calls = [host.receive() for _ in range(3)]

        assert [one["type"] for one in calls] == ["tool_call"] * 3
        for call in calls:
            host.send(type="tool_result", id=call["id"], success=True, result="0")
        assert host.run("", key=key).output == "[0, 0, 0]\n"


def test_a_cell_that_only_awaits_tools_needs_no_event_loop():
    with Host() as host:
        host.run("for i in range(3):\n    await echo(i)\n[await echo(i) for i in range(2)]\necho(1)")

        assert host.run("import sys\n'asynci' + 'o' in sys.modules").output == "False\n"


def test_a_blocking_call_does_not_lose_what_others_wait_for():
    """While a function blocks on its own call, the result of a task's call arrives, and is the task's."""
    code = (
        "import asyncio\n"
        "def block(): return echo('blocking')\n"
        "task = asyncio.create_task(echo('task'))\n"
        "await asyncio.sleep(0)\n"
        "print(block(), await task)"
    )
    with Host() as host:
        key = host.start(code)
        first, second = host.receive(), host.receive()
        for call in (first, second):
            host.send(type="tool_result", id=call["id"], success=True, result=call["args"])

        assert host.run("", key=key).output == "{'value': 'blocking'} {'value': 'task'}\n"


def test_an_unawaited_call_that_fails_shows_the_line_of_the_cell():
    with Host() as host:
        error = host.run("def f():\n    return fail('no')\nf()").error

    assert [line for line in error.splitlines() if "^" not in line] == [
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 3, in <module>',
        "    f()",
        '  File "<cell 1>", line 2, in f',
        "    return fail('no')",
        "ToolError: no",
    ]


def test_a_coroutine_as_an_argument_is_named():
    with Host() as host:
        error = host.run("c = echo(1)\nawait echo(c)\nawait c").error

    assert last_line(error) == "TypeError: echo(): argument 'value' is a call that was not awaited"


# The same nest of calls, written in a careless and in a careful way, gives the same value.


leaves = st.integers(0, 9).flatmap(
    lambda value: st.sampled_from(
        [(f"echo({value})", value), (f"(await echo({value}))", value), (str(value), value)]
    )
)


def wider(inner: st.SearchStrategy[tuple[str, int]]) -> st.SearchStrategy[tuple[str, int]]:
    """Wrap expressions that hold calls into forms whose value is known."""
    free = inner.filter(lambda one: "await" not in one[0])
    return st.one_of(
        inner.map(lambda one: (f"echo({one[0]})", one[1])),
        inner.map(lambda one: (f"(await echo({one[0]}))", one[1])),
        free.map(lambda one: (f"(lambda: {one[0]})()", one[1])),
        free.map(lambda one: (f"(lambda x: echo(x))({one[0]})", one[1])),
        free.map(lambda one: (f"[{one[0]} for _ in 'a'][0]", one[1])),
        free.map(lambda one: (f"sum({one[0]} for _ in 'ab')", 2 * one[1])),
        free.map(lambda one: (f"[x for x in [{one[0]}] if echo(x) == x][0]", one[1])),
        inner.map(lambda one: (f"double({one[0]})", 2 * one[1])),
        inner.map(lambda one: (f"(await half({one[0]}))", one[1] // 2)),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]} + {two[1][0]})", two[0][1] + two[1][1])),
        st.tuples(inner, inner).map(
            lambda two: (f"max([{two[0][0]}, {two[1][0]}])", max(two[0][1], two[1][1]))
        ),
        inner.map(lambda one: (f"({one[0]} if echo(True) else echo(0))", one[1])),
    )


nests = st.recursive(leaves, wider, max_leaves=6)


@pytest.fixture(scope="module")
def nesting():
    with Host() as host:
        host.run("def double(x): return echo(x) * 2\nasync def half(x): return echo(x) // 2")
        yield host


@settings(max_examples=120, deadline=None)
@given(
    nest=nests,
    place=st.sampled_from(
        ["{}", "x = {}\nx", "async def f():\n    return {}\nawait f()", "print(end='')\n{}"]
    ),
)
def test_any_nest_of_calls_has_the_value_of_the_careful_form(nesting, nest, place):
    code, value = nest

    assert run(nesting, place.format(code)) == (str(value), None)
