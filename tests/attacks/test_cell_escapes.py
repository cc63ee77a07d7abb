"""Attack 11: out of a kernel, into another one, into its parent process, or onto a watcher's screen."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from textwrap import dedent
from typing import Self

import pytest
from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.core.ports import SessionTool, ToolContext
from tests.attacks.stage import API_KEY, PASSWORD, Stage
from tests.surfaces.command import Terminal

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHERS = """
import os
others = [name for name in os.listdir('/proc') if name.isdigit() and int(name) != os.getpid()]
assert others
for other in others:
    try:
        names = os.listdir(f'/proc/{{other}}/{folder}') if {folder!r} else ['{name}']
    except OSError:
        continue
    for name in names:
        path = f'/proc/{{other}}/{folder}/{{name}}'.replace('//', '/')
        try:
            {action}
        except OSError:
            continue
        print('reached', path)
"""


@pytest.mark.parametrize(
    ("folder", "name", "action"),
    [
        ("", "mem", "open(path, 'rb').close()"),
        ("", "mem", "open(path, 'wb').close()"),
        ("", "environ", "open(path).read()"),
        ("", "maps", "open(path).read()"),
        ("", "auxv", "open(path, 'rb').read()"),
        ("", "stack", "assert open(path).read() or 1"),
        ("", "syscall", "open(path).read()"),
        ("", "root", "os.listdir(path)"),
        ("", "cwd", "os.listdir(path)"),
        ("", "exe", "os.readlink(path)"),
        ("fd", "", "os.readlink(path)"),
        ("fd", "", "os.open(path, os.O_RDONLY | os.O_NONBLOCK)"),
        ("fd", "", "os.open(path, os.O_WRONLY | os.O_NONBLOCK)"),
        ("ns", "", "os.open(path, os.O_RDONLY)"),
        ("", "map_files", "os.listdir(path)"),
    ],
)
async def test_what_started_a_kernel_cannot_be_looked_into(
    kernel_stage: Stage, folder: str, name: str, action: str
):
    code = OTHERS.format(folder=folder, name=name, action=action)

    seen = await kernel_stage.cell(code)

    assert (seen.text, seen.is_error) == ("[no output]", False)


TRACES = [
    "libc.ptrace(16, {pid}, 0, 0)",
    "libc.ptrace(0x4206, {pid}, 0, 0)",
    "libc.process_vm_readv({pid}, span, 1, span, 1, 0)",
    "libc.process_vm_writev({pid}, span, 1, span, 1, 0)",
    "libc.syscall(438, os.pidfd_open({pid}), 0, 0)",
    "libc.syscall(312, {pid}, os.getpid(), 0, 0, 0)",
]


@pytest.mark.parametrize("call", TRACES)
async def test_what_started_a_kernel_cannot_be_traced(kernel_stage: Stage, call: str):
    code = """
    import ctypes, os
    libc = ctypes.CDLL(None)
    text = ctypes.create_string_buffer(64)
    span = (ctypes.c_void_p * 2)(ctypes.addressof(text), 8)
    for pid in (1, os.getppid()):
        print({call})
    """

    seen = await kernel_stage.cell(dedent(code).replace("{call}", call.replace("{pid}", "pid")).strip())

    assert set(seen.text.split()) <= {"-1"}
    assert seen.text


@pytest.mark.parametrize(
    "code",
    [
        "os.kill(1, 9)",
        "os.kill(os.getppid(), 9); signal.pause()",  # without its parent it is killed, too
        "os.kill(-1, 9); signal.pause()",
        "os.kill(0, 9)",
    ],
)
async def test_a_cell_that_kills_processes_around_it_ends_itself_at_most(kernel_stage: Stage, code: str):
    await kernel_stage.cell(f"import os, signal; {code}")

    after = await kernel_stage.cell("print(6 * 7)")

    assert (after.text.splitlines()[0], after.is_error) == ("42", False)


async def test_no_key_is_in_the_memory_of_a_kernel(kernel_stage: Stage):
    """Half of the key is looked for in the other half's company, as the code itself lies in memory, too."""
    code = """
    import re
    half, rest, found = {half!r}.encode(), {rest!r}.encode(), []
    for line in open('/proc/self/maps'):
        span = re.match('([0-9a-f]+)-([0-9a-f]+) r', line)
        if span is None or '[v' in line: continue
        with open('/proc/self/mem', 'rb', 0) as memory:
            memory.seek(int(span[1], 16))
            try: text = memory.read(int(span[2], 16) - int(span[1], 16)) or b''
            except OSError: continue
        at = text.find(half)
        while at >= 0:
            found.append(text[at + len(half):at + len(half) + 4] == rest[:4])
            at = text.find(half, at + 1)
    print(len(found) > 0, sum(found))
    """
    halves = {"half": API_KEY[:14], "rest": API_KEY[14:]}

    seen = await kernel_stage.cell(dedent(code).strip().format(**halves))

    assert seen.text == "True 0"


@pytest.mark.parametrize(
    "code",
    [
        "import os; print(dict(os.environ))",
        "import os; print(os.environb)",
        "import posix; print(posix.environ)",
        "print(open('/proc/self/environ').read())",
        "import os, subprocess, sys; print(subprocess.check_output(['env']))",
        """
        import ctypes
        found = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), 'environ')
        for i in range(99):
            if found[i] is None: break
            print(found[i][::-1])
        """,
        "import gc; print([str(o)[:9999] for o in gc.get_objects() if isinstance(o, dict) and 'PATH' in o])",
        "import sys; f = sys._getframe()\nwhile f: print(f.f_locals, f.f_globals); f = f.f_back",
    ],
)
async def test_no_key_is_in_the_environment_of_a_cell(kernel_stage: Stage, code: str):
    seen = await kernel_stage.cell(dedent(code).strip())
    text = "\n".join((seen.text, *seen.channels[1:]))

    assert (seen.is_error, API_KEY in text, API_KEY[::-1] in text, PASSWORD in text) == (False,) * 4
    assert "[secret" not in text


async def test_the_process_of_bridle_is_not_there_for_a_cell(kernel_stage: Stage):
    seen = await kernel_stage.cell(f"import os; print(os.path.exists('/proc/{os.getpid()}'))")

    assert (seen.text, Path(f"/proc/{os.getpid()}").exists()) == ("False", True)


# ---------------------------------------------------------------------------- another kernel


class Session:
    """A session beside the others of a stage; its kernel holds what its cells leave."""

    def __init__(self, stage: Stage, name: str) -> None:
        [tool] = [tool for tool in stage.tools if tool.spec.name == "python"]
        assert isinstance(tool, SessionTool)
        self._python = tool
        self._context = ToolContext(SessionId(name), str(stage.project), lambda text: None, mode="yolo")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._python.end_session(self._context.session)

    async def run(self, code: str) -> str:
        output = await self._python.run({"code": dedent(code).strip()}, self._context)
        for note in output.notes:
            self._context = replace(self._context, snapshot=note.snapshot)
        return output.text


async def test_no_kernel_sees_another_one(kernel_stage: Stage):
    lay = """
    import os
    place = os.environ['SCRATCH_DIR'] + '/mine'
    for path in (place, '/tmp/mine', '/dev/shm/mine'): open(path, 'w').write('mine')
    mine = 'here'
    print(place)
    """
    look = """
    import os
    print([path for path in ({place!r}, '/tmp/mine', '/dev/shm/mine') if os.path.exists(path)])
    print('mine' in globals())
    lines = [open(f'/proc/{{pid}}/cmdline').read() for pid in os.listdir('/proc') if pid.isdigit()]
    print(sum('-B' in line.split(chr(0)) for line in lines))
    """
    async with Session(kernel_stage, "one") as one, Session(kernel_stage, "two") as two:
        place = await one.run(lay)
        same = await one.run(look.format(place=place))
        other = await two.run(look.format(place=place))

    assert same == f"[{place!r}, '/tmp/mine', '/dev/shm/mine']\nTrue\n1"
    assert other == "[]\nFalse\n1"


async def test_no_kernel_reaches_another_one_by_a_socket(kernel_stage: Stage):
    listen = """
    import socket
    door = socket.socket(socket.AF_UNIX)
    door.bind('\\0bridle-attack'), door.listen()
    other = socket.create_server(('127.0.0.1', 0))
    other.getsockname()[1]
    """
    knock = """
    import socket
    for family, place in ((socket.AF_UNIX, '\\0bridle-attack'), (socket.AF_INET, ('127.0.0.1', {port}))):
        try: print(socket.socket(family).connect(place))
        except OSError as error: print(type(error).__name__)
    """
    async with Session(kernel_stage, "one") as one, Session(kernel_stage, "two") as two:
        port = await one.run(listen)
        said = [await session.run(knock.format(port=port)) for session in (one, two)]

    assert said == ["None\nNone", "ConnectionRefusedError\nConnectionRefusedError"]


async def test_a_signal_reaches_no_other_kernel(kernel_stage: Stage):
    kill = """
    import os
    for pid in range(400, 0, -1):
        try: os.kill(pid, 9)
        except OSError: pass
    """
    async with Session(kernel_stage, "one") as one, Session(kernel_stage, "two") as two:
        await one.run("x = 'here'")
        await two.run(kill)
        alive = await one.run("print(x)")

    assert alive == "here"


# ---------------------------------------------------------------------------- the snapshot


@pytest.mark.parametrize("name", ["kernel.key", "blobs", "run", "sessions", "."])
async def test_bridles_own_folder_is_closed_to_cells(kernel_stage: Stage, name: str):
    path = kernel_stage.home / ".bridle" / name
    await kernel_stage.cell("x = 1")
    code = """
    import os
    for way in (os.listdir, open, os.unlink, os.rmdir, lambda path: open(path + '/new', 'w'), os.stat):
        try: way({path!r})
        except OSError: continue
        print('reached', way)
    """

    seen = await kernel_stage.cell(dedent(code).strip().format(path=str(path)))

    assert "reached" not in seen.text.replace("reached <built-in function stat>", "")
    assert path.parent.exists()


# ---------------------------------------------------------------------------- the screen


HOSTILE = "\x1b]0;evil\x07\x1b[2J\x1b[31m\x9b1m\x08\x08\r\u202e\x1bP+q\x1b\\"
SHOWN = {
    "print": "print({text!r})",
    "error stream": "import sys; sys.stderr.write({text!r})",
    "a child": "import subprocess; subprocess.run(['printf', '%s', {text!r}])",
    "repr": "class A:\n    def __repr__(self): return {text!r}\nA()",
    "error": "raise ValueError({text!r})",
    "the name of an error": "raise type({text!r}, (Exception,), {{}})({text!r})",
    "the line of an error": "raise ValueError() # {text}",
    "a variable that is not kept": "globals()[{text!r}] = open('/dev/null')",
    "progress": "message({text!r})",
    "answer": "message({text!r}, kind='final')",
    "a tool": "await read_file({text!r})",
    "a question": "await write_file('new', {text!r})",
    "an exit": "import sys; sys.exit({text!r})",
    "a warning": "import warnings; warnings.warn({text!r})",
}
PROGRAM = [sys.executable, "-m", "bridle"]
OURS = re.compile(r"\x1b\[[0-9;]*[mK]|\x1b\[\?25[hl]|\r")


@pytest.mark.parametrize("way", SHOWN)
async def test_nothing_that_a_cell_says_steers_the_screen(env: dict[str, str], tmp_path: Path, way: str):
    code = SHOWN[way].format(text=HOSTILE)
    script = tmp_path / "script.json"
    call = {"name": "python", "args": {"code": code}}
    script.write_text(json.dumps({"replies": [{"calls": [call]}, {"text": "done"}]}))
    argv = [*PROGRAM, "run", "--model", f"scripted/{script}", "--allow", "python", "--verbose", "go"]

    def watch() -> str:
        with Terminal(argv, tmp_path, env | {"TERM": "xterm", "NO_COLOR": "1"}) as terminal:
            if way == "a question":
                terminal.expect("write_file")
                terminal.interrupt()
            terminal.finish()
            return terminal.screen

    screen = await asyncio.to_thread(watch)
    left = OURS.sub("", screen)

    assert "\\x1b]0;evil" in left or "\\u001b]0;evil" in left, screen
    assert [char for char in left if not (char.isprintable() or char in "\n\t")] == []
