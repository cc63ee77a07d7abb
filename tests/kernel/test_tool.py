"""The Python tool: state that persists, is restored and rewound, and what the model is told about it."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Media, ToolResult
from bridle.core.permission import Rule, parse_rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import KernelSaved
from bridle.core.tool import Access, ToolSpec
from bridle.kernel.host import Kernel
from bridle.kernel.start import KernelSettings
from bridle.kernel.tool import MAX_CODE_BYTES, MAX_MEDIA, Python, create_python_tool
from bridle.sandbox import LocalSandbox
from bridle.stores.blobs import MemoryBlobs
from bridle.tools.secrets import Masker
from tests.kernel.conftest import ECHO

NEW = "[a new kernel, with the variables of the last one]"
PYTHON = ToolSpec("python", "Run Python.", {"type": "object", "properties": {"code": {"type": "string"}}})
SEND = ToolSpec(
    "send-mail",
    "Send it.",
    {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]},
)


class Desk:
    """A session that runs cells, and records what an engine would."""

    def __init__(self, tool: Python, context: ToolContext) -> None:
        self.tool = tool
        self.emitted: list[str] = []
        self.context = replace(context, emit=self.emitted.append)

    async def run(self, code: str, **more: Any) -> ToolOutput:
        output = await self.tool.run({"code": code}, replace(self.context, **more))
        for note in output.notes:
            assert isinstance(note, KernelSaved)
            self.context = replace(self.context, snapshot=note.snapshot)
        return output

    async def text(self, code: str, **more: Any) -> str:
        return (await self.run(code, **more)).text

    def beside(self, session: str, **more: Any) -> "Desk":
        """Return another session of the same tool."""
        return Desk(self.tool, replace(self.context, session=SessionId(session), **more))

    @property
    def is_busy(self) -> bool:
        return self.tool.is_busy(self.context.session)

    @property
    def kernel(self) -> Kernel:
        return self.tool._living[self.context.session].kernel


MakeDesk = Callable[..., Desk]


@pytest.fixture
def blobs() -> MemoryBlobs:
    """Return the place where snapshots are kept."""
    return MemoryBlobs()


@pytest.fixture
async def make(
    sandbox: LocalSandbox, settings: KernelSettings, project: Path, tmp_path: Path, blobs: MemoryBlobs
) -> AsyncIterator[MakeDesk]:
    """Make tools with settings of one's own; their kernels end with the test."""
    tools: list[Python] = []

    def make(*, key: str = "key", pool: dict[str, Any] | None = None, **more: Any) -> Desk:
        tool = create_python_tool(
            sandbox,
            replace(settings, **more),
            **{"blobs": blobs, "key_file": tmp_path / key, **(pool or {})},
        )
        tools.append(tool)
        context = ToolContext(SessionId("s"), str(project), lambda text: None, tools=(ECHO, PYTHON))
        return Desk(tool, context)

    yield make
    for tool in tools:
        await tool.aclose()


@pytest.fixture
def desk(make: MakeDesk) -> Desk:
    """Return a session."""
    return make()


def answering(*outputs: str | ToolResult) -> Callable[[str, dict[str, Any]], Awaitable[ToolResult]]:
    """Return what answers calls, one after the other."""
    left = list(outputs)

    async def call(name: str, args: dict[str, Any]) -> ToolResult:
        output = left.pop(0)
        return output if isinstance(output, ToolResult) else ToolResult(CallId("n"), name, output)

    return call


def is_gone(pid: int) -> bool:
    """Return whether a process has ended; a zombie has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


# ---------------------------------------------------------------------------- state


async def test_what_a_cell_leaves_the_next_one_finds(desk: Desk):
    first = await desk.run("x = 41\ndef f(): return x + 1")

    assert first == ToolOutput("[no output]", notes=(KernelSaved(desk.context.snapshot, ("f",)),))
    assert await desk.run("f()") == ToolOutput("42")


async def test_a_cell_that_changes_nothing_records_nothing(desk: Desk):
    await desk.run("x = 1")

    assert (await desk.run("print(x)")).notes == ()


async def test_an_error_is_a_result_with_what_was_printed_before(desk: Desk):
    output = await desk.run("print('half')\n1 / 0")

    assert output.is_error
    assert output.text == (
        'half\nTraceback (most recent call last):\n  File "<cell 1>", line 2, in <module>\n    1 / 0\n'
        "    ~~^~~\nZeroDivisionError: division by zero"
    )


async def test_a_kernel_that_dies_is_replaced_by_one_with_the_variables_as_before(desk: Desk):
    await desk.run("x = 1\nimport json as kept_by_name\nf = open('/dev/null')")
    output = await desk.run("x = 2\nimport os; os._exit(3)")
    after = await desk.text("x")

    assert (output.is_error, output.notes) == (True, ())
    assert output.text == (
        "[the kernel died: exit status 3; "
        "the next cell gets a new kernel with the variables from before this cell]"
    )
    assert after.startswith("1\n[a new kernel, with the variables of the last one; not kept: ")
    assert "f" in after.partition("not kept: ")[2]


async def test_a_cell_that_takes_too_long_keeps_what_it_did(make: MakeDesk):
    desk = make(cell_timeout_s=0.3)
    output = await desk.run("x = 5\nwhile True: pass")

    assert output.is_error
    assert output.text.splitlines()[-1] == (
        "[the cell took too long: more than 0.3 s; its variables are kept as the code left them]"
    )
    assert await desk.text("x") == "5"


async def test_a_cell_that_takes_too_long_and_does_not_heed_loses_what_it_did(make: MakeDesk):
    desk = make(cell_timeout_s=0.3, interrupt_grace_s=0.1)
    await desk.run("x = 1")
    output = await desk.run("x = 5\nsum(range(10**15))")

    assert output.text == (
        "[the cell took too long: no answer 0.1 s after it was interrupted; "
        "the next cell gets a new kernel with the variables from before this cell]"
    )
    assert await desk.text("x") == f"1\n{NEW}"


async def test_a_kernel_that_dies_between_cells_is_replaced(desk: Desk):
    await desk.run("x = 1")
    os.kill(desk.kernel.pid, signal.SIGKILL)
    await desk.kernel._watch

    assert await desk.text("x") == f"1\n{NEW}"


async def test_after_going_back_a_kernel_holds_what_it_held_then(desk: Desk):
    await desk.run("x = [1]")
    before = desk.context
    await desk.run("x.append(2); y = 1")
    desk.context = before

    assert await desk.text("(x, 'y' in globals())") == f"([1], False)\n{NEW}"


async def test_going_back_also_takes_back_what_a_cut_off_cell_did(desk: Desk):
    await desk.run("x = 1")
    begun = asyncio.Event()
    code = "x = 2\nmessage('on')\nimport time\ntime.sleep(60)"
    running = asyncio.create_task(desk.run(code, emit=lambda text: begun.set()))
    await begun.wait()
    running.cancel()
    await asyncio.wait([running])

    assert (await desk.text("x", rewinds=1)).split("\n")[0] == "1"


async def test_variables_that_are_lent_reach_the_code_and_choose_its_python(desk: Desk, project: Path):
    assert await desk.text("import os; os.environ.get('VIRTUAL_ENV')") == "[no output]"
    lent = {"VIRTUAL_ENV": "/venv", "TZ": "Asia/Tokyo"}
    told = await desk.text("import os; os.environ['VIRTUAL_ENV'], os.environ['TZ']", env=lent)
    assert told.split("\n")[0] == "('/venv', 'Asia/Tokyo')"


async def test_before_the_first_cell_there_is_nothing(desk: Desk):
    await desk.run("x = 1")
    desk.context = replace(desk.context, snapshot="")

    assert await desk.text("'x' in globals()") == "False"


async def test_a_fork_has_the_variables_of_its_parent_and_its_own_from_then_on(desk: Desk):
    await desk.run("x = [1]")
    child = desk.beside("child")
    await child.run("x.append('child')")
    await desk.run("x.append('parent')")

    assert (await child.text("x"), await desk.text("x")) == ("[1, 'child']", "[1, 'parent']")


async def test_two_sessions_share_nothing(desk: Desk):
    other = desk.beside("other")
    await desk.run("import os, sys; x = 1; os.environ['X'] = sys.x = 'mine'; open('/tmp/mine', 'w')")

    seen = await other.text(
        "import os, sys; ('x' in globals(), 'X' in os.environ, hasattr(sys, 'x'), os.listdir('/tmp'))"
    )

    assert (seen.startswith("(False, False, False"), "mine" in seen) == (True, False)


async def test_files_of_the_scratch_folder_come_back(desk: Desk):
    await desk.run("import os; open(os.environ['SCRATCH_DIR'] + '/note', 'w').write('kept')")
    await desk.run("import os; os._exit(0)")

    seen = await desk.text("import os; open(os.environ['SCRATCH_DIR'] + '/note').read()")
    assert seen.splitlines()[0] == "'kept'"


# ---------------------------------------------------------------------------- snapshots that are no good


async def test_a_snapshot_that_was_changed_is_refused_and_that_is_said(desk: Desk, blobs: MemoryBlobs):
    await desk.run("x = 1")
    sealed = bytearray(blobs.get(desk.context.snapshot))
    sealed[-1] ^= 1
    forged = desk.beside("forged", snapshot=blobs.put(bytes(sealed)))

    assert await forged.text("'x' in globals()") == (
        "False\n[a new, empty kernel: the variables of the last one cannot be restored: "
        "the snapshot was not made by Bridle on this machine for this session; nothing was restored]"
    )


async def test_a_snapshot_of_another_key_is_refused(desk: Desk, make: MakeDesk):
    await desk.run("x = 1")
    stranger = make(key="another")
    stranger.context = replace(stranger.context, snapshot=desk.context.snapshot)

    seen = await stranger.text("'x' in globals()")
    assert seen.startswith(
        "False\n[a new, empty kernel: the variables of the last one cannot be restored: the snap"
    )


async def test_a_blob_that_is_no_snapshot_is_refused(desk: Desk, blobs: MemoryBlobs):
    desk.context = replace(desk.context, snapshot=blobs.put(b"json:{}"))

    assert "was not made by Bridle" in await desk.text("1")


async def test_a_snapshot_that_is_gone_is_said(desk: Desk):
    desk.context = replace(desk.context, snapshot="0" * 64)

    assert await desk.text("1") == (
        "1\n[a new, empty kernel: the variables of the last one cannot be restored: "
        "blob 000000000000 is no longer stored]"
    )


async def test_what_is_too_large_is_left_out_by_name(make: MakeDesk):
    desk = make(max_snapshot_bytes=2_000)
    output = await desk.run("small = 1; large = 'x' * 5_000")

    assert output.notes == (KernelSaved(desk.context.snapshot, ("large",)),)


async def test_where_nothing_is_kept_nothing_is_recorded(make: MakeDesk):
    desk = make(pool={"blobs": None})
    output = await desk.run("x = 1")
    await desk.run("import os; os._exit(0)")

    assert (output.notes, await desk.text("'x' in globals()")) == ((), "False")


async def test_a_key_that_others_can_read_is_not_used(desk: Desk, tmp_path: Path):
    (tmp_path / "key").write_bytes(bytes(32))
    (tmp_path / "key").chmod(0o644)

    output = await desk.run("x = 1")

    assert (output.notes, output.is_error) == ((), False)
    assert "".join(desk.emitted).startswith("[the variables were not saved: the snapshot key is not safe")


# ---------------------------------------------------------------------------- where it lives


async def test_a_deny_rule_makes_a_new_kernel_with_the_variables(desk: Desk, project: Path):
    (project / "secret").write_text("hidden")
    await desk.run("x = open('secret').read()")
    pid = desk.kernel.pid
    desk.context = replace(desk.context, rules=(parse_rule("deny", "read_file(secret)"),))

    seen = await desk.text("print(x)\nopen('secret')")

    assert seen.startswith("hidden\nTraceback")
    assert seen.endswith(f"PermissionError: [Errno 13] Permission denied: 'secret'\n{NEW}")
    assert (desk.kernel.pid != pid, is_gone(pid)) == (True, True)


async def test_rules_that_change_no_wall_keep_the_kernel(desk: Desk):
    await desk.run("f = lambda: 'here'")
    desk.context = replace(
        desk.context, rules=(parse_rule("allow", "bash(ls:*)"), parse_rule("ask", "edit_file"))
    )

    assert await desk.text("f()") == "'here'"


async def test_walls_that_have_grown_old_make_a_new_kernel(desk: Desk, project: Path):
    desk.context = replace(desk.context, rules=(parse_rule("deny", "read_file(**/*.pem)"),))
    await desk.run("x = 1")
    same = await desk.text("x")
    (project / "new.pem").write_text("hidden")

    seen = await desk.text("print(x)\nopen('new.pem')")

    assert same == "1"
    assert seen.endswith(f"PermissionError: [Errno 13] Permission denied: 'new.pem'\n{NEW}")


async def test_what_is_no_longer_there_to_be_hidden_keeps_the_kernel(desk: Desk, project: Path):
    desk.context = replace(desk.context, rules=(parse_rule("deny", "read_file(**/*.pem)"),))
    (project / "old.pem").write_text("hidden")
    await desk.run("f = lambda: 'here'")
    (project / "old.pem").unlink()

    assert await desk.text("f()") == "'here'"


async def test_spares_with_old_walls_are_not_used(make: MakeDesk, project: Path):
    desk = make(pool={"spares": 2})
    desk.context = replace(desk.context, rules=(parse_rule("deny", "read_file(**/*.pem)"),))
    await desk.run("1")
    [shelf] = desk.tool._pool._spares_by_place.values()
    await asyncio.wait(list(shelf.starting))
    (project / "new.pem").write_text("hidden")

    seen = await desk.beside("other").text("open('new.pem')")

    assert seen.endswith(f"PermissionError: [Errno 13] Permission denied: 'new.pem'\n{NEW}")


async def test_more_kernels_than_there_may_be(make: MakeDesk):
    desk = make(pool={"max_kernels": 1})
    began = asyncio.Event()
    desk.context = replace(desk.context, emit=lambda text: began.set())
    running = asyncio.create_task(desk.run("print('on', flush=True)\nawait asyncio.sleep(60)"))
    await began.wait()

    with pytest.raises(ToolError, match="all 1 kernels are in use"):
        await desk.beside("other").run("1")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_kernel_of_one_session_is_not_given_to_another(make: MakeDesk):
    """Its code may have changed whatever a reset would make good."""
    desk = make(pool={"max_kernels": 1})
    hostile = """
        import gc
        for one in gc.get_objects():
            if type(one).__name__ == "Cells" and hasattr(one, "forget"):
                type(one).forget = lambda self: None
                stolen = "still here"
    """
    await desk.run(dedent(hostile))
    desk.context = replace(desk.context, snapshot="")
    same = await desk.text("stolen")
    other = await desk.beside("other", snapshot="").text("'stolen' in globals()")

    assert (same, other) == ("'still here'", "False")


# ---------------------------------------------------------------------------- tools


async def test_a_call_that_fails_raises_an_error_with_its_text(desk: Desk):
    failed = ToolResult(CallId("n"), "echo", "denied by rule deny echo", is_error=True)
    code = "try: await echo('x')\nexcept ToolError as error: print('told:', error)\nawait echo('y')"

    seen = await desk.text(code, call=answering(failed, "fine"))

    assert seen == "told: denied by rule deny echo\n'fine'"


async def test_a_call_that_nobody_may_make_is_refused(desk: Desk):
    assert (await desk.text("await echo('x')")).endswith("ToolError: echo: no tools are available")


async def test_pictures_of_calls_are_passed_on_up_to_a_bound(desk: Desk):
    pictures = [Media("image/png", str(number)) for number in range(MAX_MEDIA + 3)]
    results = [ToolResult(CallId("n"), "echo", "seen", media=(one,)) for one in pictures]

    output = await desk.run(f"for i in range({len(results)}): await echo('x')", call=answering(*results))

    assert output.media == tuple(pictures[:MAX_MEDIA])


async def test_tools_are_called_by_their_own_names(desk: Desk):
    made: list[tuple[str, dict[str, Any]]] = []

    async def call(name: str, args: dict[str, Any]) -> ToolResult:
        made.append((name, args))
        return ToolResult(CallId("n"), name, "sent")

    desk.context = replace(desk.context, tools=(SEND, PYTHON))

    assert await desk.text("await send_mail(from_='me')", call=call) == "'sent'"
    assert made == [("send-mail", {"from": "me"})]


async def test_code_cannot_run_code_by_the_tool(desk: Desk):
    seen = await desk.text("'python' in globals(), list_tools()", call=answering())

    assert seen == "Available tools:\n  echo(text: str) -> str\n      Return what it is given.\n(False, None)"


async def test_tools_that_come_later_can_be_called(desk: Desk):
    await desk.run("x = 'kept'")
    desk.context = replace(desk.context, tools=(ECHO, SEND, PYTHON))

    assert await desk.text("await send_mail(x)", call=answering("sent")) == "'sent'"


# ---------------------------------------------------------------------------- what is said


async def test_the_last_final_message_is_the_answer(desk: Desk):
    output = await desk.run("message('a', kind='final'); print('x'); message('b', kind='final')")

    assert (output.answer, output.text, output.is_error) == ("b", "x", False)


async def test_a_cell_that_fails_gives_no_answer(desk: Desk):
    output = await desk.run("message('a', kind='final'); 1 / 0")

    assert (output.answer, output.is_error) == ("", True)


async def test_progress_and_output_are_shown_while_they_come(desk: Desk):
    began = asyncio.Event()
    shown: list[str] = []

    def emit(text: str) -> None:
        shown.append(text)
        began.set()

    task = asyncio.create_task(
        desk.run("message('halfway')\nawait echo('x')\nprint('end')", emit=emit, call=_never)
    )
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert shown[0] == "halfway\n"


async def _never(name: str, args: dict[str, Any]) -> ToolResult:
    await asyncio.Event().wait()
    raise AssertionError


async def test_output_is_cut_in_the_middle(make: MakeDesk):
    desk = make(max_output_bytes=100)

    assert (
        await desk.text("print('a' * 500 + 'end')")
        == f"{'a' * 50}\n[404 bytes are left out here]\n{'a' * 46}end"
    )


async def test_a_secret_that_comes_in_pieces_is_not_shown(make: MakeDesk):
    desk = make(pool={"mask": Masker({"KEY": "sk-0123456789"}).stream})

    await desk.run("import time\nprint('x sk-01', end='', flush=True)\ntime.sleep(0.15)\nprint('23456789 y')")

    assert "".join(desk.emitted) == "x [secret KEY] y\n"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("", "no code to run"),
        (" \n", "no code to run"),
        (None, "no code to run"),
        ("x = '\ud800'", "the code is not valid Unicode: character 6 is half of a pair"),
        ("#" * (MAX_CODE_BYTES + 1), f"the code is longer than {MAX_CODE_BYTES} bytes"),
        ("#" + "é" * (MAX_CODE_BYTES // 2), f"the code is longer than {MAX_CODE_BYTES} bytes"),
    ],
)
async def test_code_that_is_none(desk: Desk, code: Any, why: str):
    with pytest.raises(ToolError, match=why):
        await desk.run(code)
    with pytest.raises(ToolError, match=why):
        desk.tool.access({"code": code}, desk.context)


async def test_the_longest_code_runs(desk: Desk):
    assert await desk.text("1 #" + "x" * (MAX_CODE_BYTES - 3)) == "1"


async def test_what_is_asked_about(make: MakeDesk):
    desk = make()
    rules = (parse_rule("allow", "python(domain:a.example)"), parse_rule("allow", "bash(domain:b.example)"))

    assert desk.tool.access({"code": "1"}, desk.context) == Access("python", "execute")
    assert await desk.tool.preview({"code": "1"}, desk.context) == "1\n(sandbox: bubblewrap, no network)"
    assert await desk.tool.preview({"code": "1"}, replace(desk.context, rules=rules)) == (
        "1\n(sandbox: bubblewrap, network to a.example)"
    )


async def test_with_syd_only_a_rule_that_it_cannot_enforce_is_a_doubt(make: MakeDesk):
    desk = make(syd_config="/etc/my.syd")
    rules = (parse_rule("allow", "python"), parse_rule("deny", "bash"))
    secret = (*rules, parse_rule("deny", "read_file(secrets/**)"))

    def doubt(rules: tuple[Rule, ...]) -> str:
        return desk.tool.access({"code": "1"}, replace(desk.context, rules=rules)).doubt

    assert (doubt(rules), doubt(secret)) == ("", "syd does not enforce rule deny read_file(secrets/**)")
    assert await desk.tool.preview({"code": "1"}, desk.context) == (
        "1\n(sandbox: syd, /etc/my.syd; changes cannot be undone)"
    )


@pytest.mark.parametrize("kind", ["none"])
async def test_without_a_sandbox_there_is_a_doubt(desk: Desk):
    access = desk.tool.access({"code": "1"}, desk.context)
    preview = await desk.tool.preview({"code": "1"}, desk.context)

    assert access.doubt.startswith("this code has no sandbox: ")
    assert preview.startswith("1\n(no sandbox: ")
    assert await desk.text("1") == "1"  # someone was asked


# ---------------------------------------------------------------------------- ends


@pytest.mark.parametrize("code", ["while True: pass", "await asyncio.sleep(60)", "await echo('x')"])
async def test_a_cell_that_is_cancelled_settles_and_its_kernel_works(desk: Desk, code: str):
    await desk.run("x = 1")
    began = asyncio.Event()
    task = asyncio.create_task(desk.run(f"message('on')\n{code}", emit=lambda text: began.set(), call=_never))
    await began.wait()
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert time.monotonic() - started < 5
    assert (await desk.text("x")).splitlines()[0] == "1"


@pytest.mark.parametrize(
    ("code", "is_busy"),
    [
        ("x = 1", False),
        (
            "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
            True,
        ),
        ("import subprocess; p = subprocess.Popen(['sleep', '60'])", True),
        ("f = open('a', 'w')", True),
        ("f = open('a', 'w'); f.close()", False),
        ("open('a', 'w').close(); f = open('a')", False),
        ("f = open('/tmp/a', 'w')", False),
        ("import os; f = open('a', 'w'); os.remove('a')", False),
        ("import mmap\nwith open('b', 'r+b') as f: m = mmap.mmap(f.fileno(), 0)", True),
    ],
)
async def test_a_kernel_is_busy_while_it_may_change_files(
    desk: Desk, project: Path, code: str, is_busy: bool
):
    (project / "b").write_text("x")
    before = desk.is_busy
    await desk.run(code)

    assert (before, desk.is_busy) == (False, is_busy)


async def test_a_cell_that_runs_is_busy(desk: Desk):
    began = asyncio.Event()
    task = asyncio.create_task(
        desk.run("message('on'); await asyncio.sleep(60)", emit=lambda text: began.set())
    )
    await began.wait()
    is_busy = desk.is_busy
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (is_busy, desk.is_busy) == (True, False)


async def test_the_end_of_a_session_ends_its_kernel_and_no_other(desk: Desk):
    other = desk.beside("other")
    await desk.run("x = 1; import threading, time; threading.Thread(target=time.sleep, args=(60,)).start()")
    await other.run("x = 2")
    pids = [desk.kernel.pid, other.kernel.pid]
    await desk.tool.end_session(desk.context.session)

    assert (list(map(is_gone, pids)), desk.is_busy) == ([True, False], False)
    assert [(await one.text("x")).splitlines()[0] for one in (desk, other)] == ["1", "2"]


async def test_the_end_of_a_session_ends_a_cell_that_runs(desk: Desk):
    began = asyncio.Event()
    task = asyncio.create_task(
        desk.run("message('on'); await asyncio.sleep(60)", emit=lambda text: began.set())
    )
    await began.wait()
    await desk.tool.end_session(desk.context.session)
    output = await task

    assert (output.is_error, "the kernel died" in output.text) == (True, True)


async def test_one_cell_at_a_time(desk: Desk):
    began = asyncio.Event()
    task = asyncio.create_task(
        desk.run("message('on'); await asyncio.sleep(60)", emit=lambda text: began.set())
    )
    await began.wait()

    with pytest.raises(ToolError, match="one cell runs at a time"):
        await desk.run("1")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
