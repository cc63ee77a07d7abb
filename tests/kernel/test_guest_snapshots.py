"""Snapshots: what they keep, what they name as lost, and what a restore refuses."""

import base64
import json
import os
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel.guest_host import Host, interpreters

every_python = pytest.mark.parametrize("python", interpreters(), ids=lambda path: path.rpartition("/")[2])


@pytest.fixture
def scratch(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    return folder


@pytest.fixture
def host(scratch):
    with Host(env={"SCRATCH_DIR": str(scratch)}) as started:
        yield started


EMPTY = {"vars": {}, "files": {}, "binary": {}}


def test_nothing_gives_an_empty_snapshot(host):
    assert host.snapshot() == (EMPTY, {})


@every_python
def test_what_json_cannot_hold_is_named_and_the_rest_is_kept(python):
    code = (
        "import os, asyncio\n"
        "a, b, c = 1, [1, {'x': (1, 2)}], {3: 4}\n"
        "_private = 1\n"
        "nan, s, data = float('nan'), {1}, b'x'\n"
        "loop = []\nloop.append(loop)\n"
        "deep = []\nfor _ in range(100_000): deep = [deep]\n"
        "half = '\\ud800'\n"
        "def f(): pass\n"
        "class C:\n    def __getattr__(self, name): raise SystemError(name)\n"
        "class Hostile(dict):\n    def items(self): raise RuntimeError('no items')\n"
        "    keys = __iter__ = items\n"
        "hostile, instance = Hostile(a=1), C()\n"
        "globals()[5] = 5\nglobals()['odd\\ud800'] = 1\n"
        "task = asyncio.create_task(asyncio.sleep(0))\n"
        "echoed = echo('plain')\n"
    )
    with Host(python=python) as host:
        assert host.run(code).error is None
        data, dropped = host.snapshot()

        assert data["vars"] == {"a": 1, "b": [1, {"x": [1, 2]}], "c": {"3": 4}, "echoed": "plain"}
        assert dropped.pop("hostile") == "no items"
        assert dropped.pop("nan").startswith("Out of range float values")
        assert dropped.pop("half").endswith("surrogates not allowed")
        assert dropped.pop("odd\\ud800").endswith("surrogates not allowed")
        assert dropped == {
            "os": "a module",
            "s": "set is not JSON",
            "data": "bytes is not JSON",
            "loop": "Circular reference detected",
            "deep": "it is nested too deeply",
            "f": "a function or another thing to call",
            "C": "a class",
            "Hostile": "a class",
            "instance": "C is not JSON",
            "task": "Task is not JSON",
        }
        assert host.run("a").output == "1\n"


def test_tools_and_what_was_there_from_the_start_are_no_variables(host):
    host.run("json.dumps(1), asyncio.sleep\nfrom os import path")

    assert host.snapshot() == (EMPTY, {"path": "a module"})


def test_files_of_the_scratch_folder_are_kept(host, scratch):
    (scratch / "sub" / "deep").mkdir(parents=True)
    (scratch / "sub" / "deep" / "a.txt").write_text("é\r\n", newline="")
    (scratch / "b.bin").write_bytes(b"\xff\x00")
    (scratch / "link").symlink_to("/etc/passwd")
    (scratch / "folder").symlink_to("/etc")
    os.mkfifo(scratch / "fifo")

    data, dropped = host.snapshot()
    assert (data, dropped) == (
        {"vars": {}, "files": {"sub/deep/a.txt": "é\r\n"}, "binary": {"b.bin": "/wA="}},
        {},
    )

    (scratch / "later").write_text("x")
    assert host.restore(data) is None
    kept = {str(one.relative_to(scratch)): one.read_bytes() for one in scratch.rglob("*") if one.is_file()}
    assert kept == {"sub/deep/a.txt": "é\r\n".encode(), "b.bin": b"\xff\x00"}
    assert not (scratch / "link").is_symlink()
    assert Path("/etc/passwd").exists()


def test_without_files_the_folder_stays_as_it_is(host, scratch):
    (scratch / "a").write_text("x")

    assert host.restore({"x": 1}) is None
    assert (scratch / "a").read_text() == "x"


def test_too_many_files_are_named(host, scratch):
    for number in range(1002):
        (scratch / f"{number:04}").write_text("")

    data, dropped = host.snapshot()
    assert (len(data["files"]), dropped) == (
        1000,
        {"file 1000": "more than 1000 files", "file 1001": "more than 1000 files"},
    )


def test_the_largest_go_first_when_it_is_too_much(host, scratch):
    (scratch / "note").write_text("n" * 100)
    host.run("small, large, larger = 'a', 'b' * 5000, 'c' * 9000")

    data, dropped = host.snapshot(max_bytes=6000)
    assert (sorted(data["vars"]), sorted(data["files"]), list(dropped)) == (
        ["large", "small"],
        ["note"],
        ["larger"],
    )

    data, dropped = host.snapshot(max_bytes=400)
    assert (sorted(data["vars"]), sorted(data["files"]), list(dropped)) == (
        ["small"],
        ["note"],
        ["larger", "large"],
    )
    assert dropped["large"] == "5011 bytes: the snapshot may have no more than 400"


def test_what_holds_something_that_is_left_out_is_left_out_too(host):
    host.run("large = {'x' * 5000}\nholder, other = (large,), (1,)")

    data, dropped = host.snapshot(codec="rich", max_bytes=2000)
    assert (sorted(data["pickles"]), dropped["holder"]) == (["other"], "it holds large")


@pytest.mark.parametrize(
    "code", ["x = [object()] * 1000", "x = {'a': ({n: object() for n in range(500)},) * 3}"]
)
def test_what_is_much_too_large_is_not_even_written(host, code):
    host.run(code)

    why = "larger than 1000 bytes: the snapshot may have no more"
    assert host.snapshot(max_bytes=1000) == (EMPTY, {"x": why})


def test_what_is_much_too_large_is_not_even_pickled(host):
    host.run("class P:\n    def __reduce__(self): made.append(1); return P, ()")
    host.run("made, x = [], [P() for _ in range(100_000)]")

    _, dropped = host.snapshot(codec="rich", max_bytes=1000)
    assert dropped["x"] == "larger than 1000 bytes: the snapshot may have no more"
    assert int(host.run("len(made)").output) < 50_000


def test_what_holds_itself_is_not_called_large(host):
    host.run("loop = [1, 2]\nloop.append(loop)")

    assert host.snapshot() == (EMPTY, {"loop": "Circular reference detected"})


def test_a_file_that_is_too_large_is_not_read(host, scratch):
    with (scratch / "hole").open("wb") as file:
        file.truncate(1 << 40)

    data, dropped = host.snapshot(max_bytes=1000)
    assert (data, list(dropped)) == (EMPTY, ["file hole"])


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a/../../x", "a//b", "", ".", "a/./b", "a\0b"])
@pytest.mark.parametrize("kind", ["files", "binary"])
def test_a_path_that_leads_out_is_refused_and_nothing_changes(host, scratch, path, kind):
    (scratch / "a").write_text("before")
    error = host.restore({"vars": {"x": 1}, kind: {"good": "YQ==", path: "YQ=="}})

    assert error == f"not restored: a snapshot may not write the file {path!r}"
    assert ([one.name for one in scratch.iterdir()], (scratch / "a").read_text()) == (["a"], "before")
    assert host.run("'x' in globals()").output == "False\n"


@pytest.mark.parametrize(
    "data",
    [
        "",
        "[1]",
        "3",
        "{",
        '{"vars": {"__builtins__": {}}}',
        '{"vars":{},"files":[]}',
        '{"vars":{},"files":{"a":1}}',
        '{"vars":{},"binary":{"a":"!"}}',
        "[" * 100_000,
    ],
)
def test_data_that_is_no_snapshot_is_refused(host, data):
    assert host.ask("restore", data=data)["error"].startswith("not restored:")
    assert host.run("1").output == "1\n"


def test_a_file_where_a_folder_must_be_is_told(host):
    assert "not restored" in host.restore({"vars": {}, "files": {"a": "1", "a/b": "2"}})


def test_a_folder_is_made_and_removed_when_none_is_given(tmp_path):
    env = {"TMPDIR": str(tmp_path)}
    with Host(env=env) as host:
        place = host.run("import os\nprint(os.environ['SCRATCH_DIR'])").output.strip()
        assert (Path(place).parent, Path(place).stat().st_mode & 0o777) == (tmp_path, 0o700)
        host.run("open(os.environ['SCRATCH_DIR'] + '/x', 'w').write('kept')")
        assert host.snapshot()[0]["files"] == {"x": "kept"}
        host.send(type="shutdown")
        host.wait()

    assert list(tmp_path.iterdir()) == []


RICH = """
import math, collections, functools, decimal
import os.path as osp
from collections import OrderedDict
from dataclasses import dataclass

FACTOR = 3
numbers = {1, 2}
raw = b"\\xff"
when = decimal.Decimal("1.5")
pair = (1, [2])
ordered = OrderedDict(a=1)
shared = [0]
box = {"shared": shared, 1: "int key"}
nan = float("nan")
half = "\\ud800"

@dataclass
class Point:
    x: int
    y: int = 0

    def far(self):
        return _square(self.x) + self.y

def _square(n): return n * n

@functools.lru_cache(maxsize=None)
def scaled(n, by=FACTOR):
    # a comment
    return n * by

def defaulted(p=None, raw=raw): return p or raw

triple = lambda n: n * 3
alias = _square
part = functools.partial(scaled, 2)
point = Point(4, 5)

def asks(x): return echo(x)
async def asks_too(x): return echo(x)
class Child(Point): pass
def later(value=numbers): return value
_hidden = 7
"""


@every_python
def test_a_rich_snapshot_brings_back_nearly_everything(python):
    code = (
        "def made():\n    def inner(): pass\n    return inner\n"
        "inner = made()\nf = open('/dev/null')\ng = (i for i in [])"
    )
    with Host(python=python) as first, Host(python=python) as second:
        assert first.run(RICH).error is None
        first.run(code)
        data, dropped = first.snapshot(codec="rich")
        assert set(dropped) == {"inner", "f", "g"}

        # A second passage: what was restored can be kept again.
        assert second.restore(data, codec="rich") is None
        data, dropped = second.snapshot(codec="rich")
        assert dropped == {}
        with Host(python=python) as third:
            assert third.restore(data, codec="rich") is None
            seen = third.run(
                "print(math.pi > 3, osp.sep, FACTOR, numbers, raw, when, "
                "pair, ordered['a'], box[1], nan != nan, len(half))\n"
                "print(box['shared'] is shared, scaled(2), part(), "
                "triple(2), alias(3), point, point.far(), Child(1).far())\n"
                "print(isinstance(point, Point), asks(1), await asks_too(2), later(), defaulted(), _hidden)"
            )
    assert seen.error is None
    assert seen.output == (
        "True / 3 {1, 2} b'\\xff' 1.5 (1, [2]) 1 int key True 1\n"
        "True 6 6 6 9 Point(x=4, y=5) 21 1\n"
        "True 1 2 {1, 2} b'\\xff' 7\n"
    )


def test_what_two_values_share_stays_shared(host):
    host.run("inner = {1}\na, b = (inner,), (inner,)")
    data, _ = host.snapshot(codec="rich")
    host.run("a = b = inner = None")
    host.restore(data, codec="rich")

    assert host.run("a[0] is b[0] is inner").output == "True\n"


def test_a_definition_is_kept_in_its_last_form(host):
    host.run("def f(): return 1")
    host.run("class f: pass")
    host.run("if True:\n    def g(): return 1\ndef f():\n    return 2")
    data, dropped = host.snapshot(codec="rich")

    assert data["definitions"] == {"f": "def f():\n    return 2"}
    assert dropped == {"g": "the source of g is not known"}


def test_a_restore_that_fails_in_part_names_the_part(host):
    host.run("import math\ndef good(): return 1\ndef bad(x=good()): return 1")
    data, _ = host.snapshot(codec="rich")
    data["definitions"]["bad"] = "def bad(x=missing()): return 1"
    data["imports"]["gone"] = ["no_such_module", ""]

    assert host.restore(data, codec="rich") == (
        "not restored:\ngone: No module named 'no_such_module'\nbad: name 'missing' is not defined"
    )
    assert host.run("good(), math.pi > 3").output == "(1, True)\n"


def test_the_json_codec_never_unpickles(host, tmp_path):
    class Bad:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "made"),)

    data = {**EMPTY, "pickles": {"x": base64.b64encode(pickle.dumps(Bad())).decode()}}
    data |= {"definitions": {"f": "1/0"}, "imports": {"os": ["os", ""]}}

    assert host.restore(data) is None
    assert host.run("[one in globals() for one in ('x', 'f', 'os')]").output == "[False, False, False]\n"
    assert not (tmp_path / "made").exists()
    assert host.restore(data, codec="rich") == "not restored:\nf: division by zero"
    assert (tmp_path / "made").exists()


def test_hostile_values_do_not_end_it(host):
    host.run(
        "class R:\n    def __reduce__(self): raise KeyError('mine')\n"
        "class S:\n    def __reduce__(self): return 5\n"
        "class P:\n    @property\n    def __class__(self): raise RuntimeError\n"
        "    @property\n    def __module__(self): raise OSError\n"
        "r, s, p, fine = R(), S(), P(), 1"
    )
    data, dropped = host.snapshot(codec="rich")

    assert data["vars"] == {"fine": 1}
    assert {"r", "s"} <= set(dropped)
    assert host.run("fine").output == "1\n"


def test_a_snapshot_can_be_interrupted(host):
    host.run(
        "class Slow(dict):\n    def items(self):\n        message('on')\n"
        "        while True: pass\nslow, x = Slow(a=1), 1"
    )
    host.send(type="snapshot", id="s")
    assert host.receive()["text"] == "on"
    host.send(type="interrupt", id="s")

    frame = host.receive()
    assert (frame["id"], frame["dropped"]) == ("s", [{"name": "everything", "why": "KeyboardInterrupt"}])
    assert host.run("x").output == "1\n"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@pytest.fixture(scope="module")
def pair():
    with Host() as first, Host() as second:
        yield first, second


@settings(max_examples=80, deadline=None)
@given(value=json_values, codec=st.sampled_from(["json", "rich"]))
def test_any_json_value_survives(pair, value, codec):
    first, second = pair
    first.run(f"value = json.loads({json.dumps(json.dumps(value))})")
    data, dropped = first.snapshot(codec=codec)

    assert (data["vars"], dropped) == ({"value": value}, {})
    assert second.restore(data, codec=codec) is None
    assert second.run(f"value == json.loads({json.dumps(json.dumps(value))})").output == "True\n"
