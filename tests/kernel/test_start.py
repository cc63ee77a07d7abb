"""How kernels start: with which Python, sandbox and variables; and that they leave nothing behind."""

import asyncio
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.permission import Rule
from bridle.core.ports import Process, ProcessSpec, SandboxKind, SandboxStatus
from bridle.kernel.cell import CellResult
from bridle.kernel.interpreter import find_python
from bridle.kernel.start import BOOT, KernelEnvironment, KernelSettings, kernel_environment, start_kernel
from bridle.sandbox import LocalSandbox
from tests.kernel.conftest import PYTHON, Stage, StartKernel

WriteProgram = Callable[[str, str], Path]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """Return a folder for programs, which cells may not change."""
    path = tmp_path / "tools"
    path.mkdir()
    return path


@pytest.fixture
def write_program(tools: Path) -> WriteProgram:
    """Write a program for the shell."""

    def write(name: str, text: str) -> Path:
        path = tools / name
        path.write_text(f"#!/bin/sh\n{dedent(text)}")
        path.chmod(0o755)
        return path

    return write


def other_interpreters() -> list[str]:
    """Return one interpreter of each version that there is here and a kernel can run on."""
    places = [
        *(shutil.which(f"python3.{minor}") for minor in range(9, 20)),
        *map(str, Path.home().glob(".pyenv/versions/3.*/bin/python3")),
        PYTHON,
    ]
    found: dict[str, str] = {}
    show = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for place in filter(None, places):
        done = subprocess.run([place, "-I", "-c", show], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            version, path = done.stdout.strip().split(" ", 1)
            if int(version.split(".")[1]) >= 9:
                found[version] = path
    return list(found.values())


# ---------------------------------------------------------------------------- the interpreter


def settings_for(tools: Path, *, confined: bool = False, **more: str) -> KernelSettings:
    """Return where to look; the tests' own folder is one that the sandbox would not see."""
    return KernelSettings(environ={"PATH": str(tools)}, confined=confined, **more)


def test_the_interpreter_that_is_set_comes_first(tools: Path, project: Path, write_program: WriteProgram):
    write_program("uv", f"echo {PYTHON}")
    write_program("python3", "exit 1")
    (tools / "mine").symlink_to(PYTHON)

    assert find_python(settings_for(tools, python="mine"), str(project)) == str(tools / "mine")
    assert find_python(settings_for(tools, python=PYTHON), str(project)) == PYTHON


def test_a_name_that_the_sandbox_does_not_see_stands_for_what_it_leads_to(project: Path):
    with tempfile.TemporaryDirectory(dir="/tmp") as hidden:
        (Path(hidden) / "python3").symlink_to(PYTHON)
        settings = settings_for(Path(hidden), confined=True)
        assert find_python(settings, str(project)) == os.path.realpath(PYTHON)
        assert find_python(settings, hidden) == f"{hidden}/python3"  # there it is seen


def test_an_interpreter_that_the_sandbox_does_not_see_at_all_is_refused_or_replaced(project: Path):
    with tempfile.TemporaryDirectory(dir="/tmp") as hidden:
        mine = Path(hidden) / "python3"
        mine.write_bytes(b"\x7fELF")
        mine.chmod(0o755)
        assert find_python(settings_for(Path(hidden), confined=True), str(project)) != str(mine)
        with pytest.raises(ToolError, match="is not visible in the sandbox"):
            find_python(settings_for(Path(hidden), confined=True, python="python3"), str(project))


def test_a_path_that_is_set_is_relative_to_the_project(tools: Path, project: Path):
    (project / ".venv").symlink_to(os.path.dirname(PYTHON))
    wanted = f".venv/{os.path.basename(PYTHON)}"

    held = settings_for(tools, python=wanted, confined=True)
    assert find_python(held, str(project)) == str(project / wanted)
    with pytest.raises(ToolError, match="is not run without a sandbox: it is in a folder that agents can"):
        find_python(settings_for(tools, python=wanted), str(project))


@pytest.mark.parametrize("name", ["nothing", "./nothing", "/nonexistent/python", "/"])
def test_an_interpreter_that_is_not_there_is_an_error(tools: Path, project: Path, name: str):
    with pytest.raises(ToolError, match=rf"Python interpreter not found: {name} \(hint: set `python`"):
        find_python(settings_for(tools, python=name), str(project))


def test_uv_is_asked_once_and_its_answer_taken(tools: Path, project: Path, write_program: WriteProgram):
    write_program("uv", f'echo "$@" >> {tools}/asked; echo {PYTHON}')
    settings = settings_for(tools, uv_python="3.12")

    found = [find_python(settings, str(project)) for _ in range(3)]

    assert found == [PYTHON] * 3
    assert (tools / "asked").read_text() == "python find --no-project 3.12\n"


@pytest.mark.parametrize("script", ["exit 1", "echo nothing", "echo /nonexistent", "true"])
def test_without_an_answer_of_uv_python3_is_taken(
    tools: Path, project: Path, write_program: WriteProgram, script: str
):
    write_program("uv", script)
    (tools / "python3").symlink_to(PYTHON)

    assert find_python(settings_for(tools), str(project)) == str(tools / "python3")


def test_an_answer_of_uv_that_cells_could_have_put_there_is_not_taken(
    tools: Path, project: Path, write_program: WriteProgram
):
    shutil.copy(PYTHON, project / "python")
    write_program("uv", f"echo {project}/python")
    (tools / "python3").symlink_to(PYTHON)

    assert find_python(settings_for(tools), str(project)) == str(tools / "python3")


def test_a_program_that_cells_could_have_put_there_is_not_asked(project: Path):
    for name in ("uv", "python3"):
        (project / name).write_text("#!/bin/sh\ntouch asked\necho /bin/sh\n")
        (project / name).chmod(0o755)

    held = settings_for(project, confined=True)
    assert find_python(held, str(project)) == str(project / "python3")
    assert find_python(settings_for(project), str(project)) == PYTHON  # where nothing would hold it
    assert not os.path.exists("/asked")


def test_who_is_asked_looks_for_nothing_where_cells_could_have_put_it(tools: Path, project: Path):
    """A script looks for its interpreter on PATH, and uv runs each Python that it finds there."""
    for folder in (project, project / ".venv/bin"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "sh").write_text(f"#!/bin/sh\ntouch {project}/ran\n")
        (folder / "sh").chmod(0o755)
    asked = tools / "asked"
    (tools / "uv").write_text(f'#!/usr/bin/env sh\necho "$PATH $VIRTUAL_ENV" > {asked}\necho {PYTHON}\n')
    (tools / "uv").chmod(0o755)
    path = f"{project}/.venv/bin:.:{tools}:/usr/bin:/bin"
    environ = {"PATH": path, "VIRTUAL_ENV": f"{project}/.venv"}

    assert find_python(KernelSettings(environ=environ, confined=True), str(project)) == PYTHON
    assert asked.read_text() == f"{tools}:/usr/bin:/bin \n"
    assert not (project / "ran").exists()


def test_the_interpreter_behind_a_script_is_found(tools: Path, project: Path, write_program: WriteProgram):
    """Such as pyenv's, which would start again for each kernel."""
    write_program("python3", f'exec "{PYTHON}" "$@"')

    assert find_python(settings_for(tools), str(project)) == PYTHON
    assert find_python(settings_for(tools, python="python3"), str(project)) == PYTHON


def test_without_any_other_our_own_interpreter_is_taken(tools: Path, project: Path):
    assert find_python(settings_for(tools), str(project)) == PYTHON


def test_an_old_interpreter_says_so():
    pretend = "import sys; sys.version_info = (3, 8, 1); exec(sys.argv[1])"
    done = subprocess.run([PYTHON, "-c", pretend, BOOT], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (1, "Python 3.8 is too old, a kernel needs 3.9\n")


@pytest.mark.parametrize("kind", ["none"])
async def test_what_an_interpreter_says_that_fails_is_told(
    start: StartKernel, write_program: WriteProgram, kind: SandboxKind
):
    path = write_program("python3", "echo one >&2; echo 'Python 2.7 is too old' >&2; exit 1")

    with pytest.raises(ToolError) as error:
        await start(python=str(path))
    assert str(error.value) == (
        f"the Python kernel cannot be started with {path}: Python 2.7 is too old"
        " (hint: set `python` in [kernel] to an interpreter of version 3.9 or newer)"
    )


@pytest.mark.parametrize("kind", ["none"])
async def test_an_interpreter_that_never_gets_ready_is_ended(
    start: StartKernel, write_program: WriteProgram, kind: SandboxKind
):
    path = write_program("python3", "exec sleep 60")

    with pytest.raises(ToolError, match=r"cannot be started with .*: no answer after 0.2 s"):
        await start(python=str(path), start_timeout_s=0.2)


@pytest.mark.parametrize("python", other_interpreters())
async def test_a_kernel_runs_on_every_interpreter_there_is(start: StartKernel, python: str):
    stage = Stage(await start(python=python))

    result = await stage.run("import sys\nawait echo('.'.join(map(str, sys.version_info[:3])))")

    assert result == CellResult(f"'{stage.kernel.python}'\n", calls=1)


# ---------------------------------------------------------------------------- walls


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
async def test_a_kernel_runs_behind_every_kind_of_walls(stage: Stage, project: Path, kind: SandboxKind):
    code = """
        import os, tempfile
        open("here", "w").write("x")
        with tempfile.TemporaryFile() as file: file.write(b"x")
        os.makedirs(os.environ["SCRATCH_DIR"], exist_ok=True)
        open(os.path.join(os.environ["SCRATCH_DIR"], "there"), "w").write("y")
        1 + 1
    """

    assert await stage.run(dedent(code)) == CellResult("2\n")
    assert (project / "here").read_text() == "x"


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
async def test_cells_change_nothing_outside(stage: Stage, kind: SandboxKind):
    outside = Path("/opt/bridle-outside")
    result = await stage.run(f"open({str(outside)!r}, 'w')")

    assert result.error.splitlines()[-1].startswith(("OSError: [Errno 30]", "PermissionError: "))
    assert not outside.exists()


async def test_what_rules_hide_is_hidden_from_cells(
    sandbox: LocalSandbox, settings: KernelSettings, project: Path
):
    (project / "secret").write_text("x")
    place = KernelEnvironment(str(project), (Rule("deny", "read_file", "secret"),))
    kernel = await start_kernel(sandbox, settings, place, SessionId("hidden"), specs=())
    result = await Stage(kernel).run("open('secret').read()")
    await kernel.close()

    assert "PermissionError" in result.error


async def test_files_are_kept_for_whoever_owns_the_kernel(stage: Stage, project: Path):
    kept: list[str] = []
    await stage.run("open('a', 'w')")
    stage.kernel.keep = kept.append
    await stage.run("open('b', 'w')")
    stage.kernel.keep = None
    await stage.run("open('c', 'w')")

    assert kept == [str(project / "b")]


async def test_what_cannot_be_kept_is_not_changed(stage: Stage, project: Path):
    def keep(path: str) -> None:
        raise OSError("the disk is full")

    stage.kernel.keep = keep
    result = await stage.run("open('a', 'w')")

    assert result.error.splitlines()[-1].startswith("OSError: [Errno 5]")
    assert not (project / "a").exists()


class Recorder:
    """A sandbox that remembers what it was asked for, and starts it without walls."""

    def __init__(self) -> None:
        self.status = SandboxStatus("bubblewrap")
        self.specs: list[ProcessSpec] = []
        self.ended: list[SessionId] = []
        self._real = LocalSandbox(home="/nonexistent", kind="none")

    async def start(self, spec: ProcessSpec, session: SessionId) -> Process:
        self.specs.append(spec)
        return await self._real.start(replace(spec, confined=False), session)

    async def end_session(self, session: SessionId) -> None:
        self.ended.append(session)
        await self._real.end_session(session)


async def test_syd_is_used_when_it_is_configured(
    settings: KernelSettings, project: Path, tools: Path, write_program: WriteProgram
):
    """With our own walls and our own watch away: two guards of one kind get into each other's way."""
    write_program("syd", f'printf "%s\\n" "$1" "$2" "$3" "$4" > {tools}/asked; shift 3; exec "$@"')
    sandbox = Recorder()
    environ = {**settings.environ, "PATH": f"{tools}:{settings.environ['PATH']}"}
    wanted = replace(settings, environ=environ, syd_config="/etc/my.syd")
    kernel = await start_kernel(sandbox, wanted, KernelEnvironment(str(project)), SessionId("syd"), specs=())
    result = await Stage(kernel).run("1 + 1")
    await kernel.close()

    (spec,) = sandbox.specs
    assert result == CellResult("2\n")
    assert (tools / "asked").read_text() == f"-c\n/etc/my.syd\n--\n{PYTHON}\n"
    assert (spec.confined, spec.keep) == (False, None)


async def test_a_sandbox_is_asked_for_what_the_settings_say(settings: KernelSettings, project: Path):
    sandbox = Recorder()
    wanted = replace(
        settings,
        writable=("/srv",),
        open_network=True,
        memory_bytes=10**9,
        max_processes=50,
        max_file_bytes=10**6,
    )
    place = KernelEnvironment(str(project), (Rule("deny", "read_file", "x"),), "accept-edits")
    kernel = await start_kernel(sandbox, wanted, place, SessionId("one"), specs=())
    await kernel.close()

    (spec,) = sandbox.specs
    assert (spec.cwd, spec.writable) == (str(project), (str(project), "/srv"))
    assert (spec.rules, spec.mode, spec.tool) == (place.rules, "accept-edits", "python")
    assert (spec.confined, spec.open_network) == (True, True)
    assert (spec.memory_bytes, spec.max_processes, spec.max_file_bytes) == (10**9, 50, 10**6)
    assert sandbox.ended == ["one"]


async def test_a_kernel_that_is_not_to_be_confined_is_not(settings: KernelSettings, project: Path):
    sandbox = Recorder()
    kernel = await start_kernel(
        sandbox,
        replace(settings, confined=False),
        KernelEnvironment(str(project)),
        SessionId("one"),
        specs=(),
    )
    scratch = sandbox.specs[0].env["SCRATCH_DIR"]
    existed = os.path.isdir(scratch)
    await kernel.close()

    assert sandbox.specs[0].confined is False
    assert (existed, os.path.exists(scratch)) == (True, False)


# ---------------------------------------------------------------------------- variables


def test_variables_that_change_how_python_starts_are_left_out():
    environ = {
        "PATH": "/bin",
        "PYTHONPATH": "src",
        "PYTHONHOME": "/nonexistent",
        "PYTHONSTARTUP": "x.py",
        "PYTHONINSPECT": "1",
        "PYTHONWARNINGS": "error",
        "HOME": "/home",
    }

    assert kernel_environment(environ) == {
        "PATH": "/bin",
        "PYTHONPATH": "src",
        "PYTHONWARNINGS": "error",
        "HOME": "/home",
    }


async def test_cells_see_the_variables_they_are_given(start: StartKernel, settings: KernelSettings):
    environ = {**settings.environ, "GREETING": "hello", "PYTHONHOME": "/nonexistent", "PYTHONINSPECT": "1"}
    stage = Stage(await start(environ=environ))

    result = await stage.run(
        "import os\nsorted(name for name in os.environ if name[:3] in ('GRE', 'PYT', 'SCR'))"
    )

    assert result == CellResult("['GREETING', 'SCRATCH_DIR']\n")


# ---------------------------------------------------------------------------- nothing is left


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("kind", ["none"])
async def test_a_start_that_fails_leaves_nothing(
    start: StartKernel, write_program: WriteProgram, kind: SandboxKind
):
    path = write_program("python3", "exit 1")
    with pytest.raises(ToolError):
        await start(python=str(path))
    before = descriptors()
    for _ in range(3):
        with pytest.raises(ToolError):
            await start(python=str(path))

    assert descriptors() <= before  # what ended before may be closed meanwhile


@pytest.mark.parametrize("kind", ["none"])
async def test_a_start_that_is_cancelled_leaves_nothing(
    start: StartKernel, write_program: WriteProgram, kind: SandboxKind, marked: KernelSettings
):
    path = write_program("python3", "exec sleep 60")
    await (await start()).close()
    before = descriptors()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await start(python=str(path), environ=marked.environ)

    assert descriptors() <= before  # what ended before may be closed meanwhile
    assert is_gone(marked)


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
async def test_a_closed_kernel_leaves_nothing(start: StartKernel, kind: SandboxKind, marked: KernelSettings):
    await (await start()).close()
    before = descriptors()
    stage = Stage(await start(environ=marked.environ))
    code = """
        import subprocess
        began = ["sh", "-c", "echo began; sleep 60"]
        child = subprocess.Popen(began, stdout=subprocess.PIPE, start_new_session=True)
        child.stdout.readline()
    """
    await stage.run(dedent(code))
    found = len(processes(marked))
    await stage.kernel.close()

    assert found >= 2
    assert descriptors() <= before  # what ended before may be closed meanwhile
    assert is_gone(marked)


@pytest.fixture
def marked(settings: KernelSettings, project: Path) -> KernelSettings:
    """Return settings by whose variables all processes of a kernel can be found."""
    return replace(settings, environ={**settings.environ, "MARKER": str(project)})


def processes(marked: KernelSettings) -> list[int]:
    """Return the processes that have the variables of a kernel."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"MARKER={marked.environ['MARKER']}\0".encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def is_gone(marked: KernelSettings) -> bool:
    """Give processes that were killed a moment to be gone."""
    for pid in processes(marked):
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(pid)
            try:
                select.select([descriptor], [], [], 1)
            finally:
                os.close(descriptor)
    return not processes(marked)


HOST = """
import asyncio, json, sys
from bridle.core.ids import SessionId
from bridle.kernel.start import KernelSettings, KernelEnvironment, start_kernel
from bridle.sandbox import LocalSandbox

async def main(python, cwd, environ, kind):
    settings = KernelSettings(python=python, environ=json.loads(environ), confined=kind != "none")
    sandbox = LocalSandbox(home="/nonexistent", kind=kind)
    kernel = await start_kernel(sandbox, settings, KernelEnvironment(cwd), SessionId("host"), specs=())
    code = "import subprocess\\nsubprocess.Popen(['sh', '-c', 'echo began; sleep 60'])\\nwhile True: pass"
    await kernel.run(code, emit=lambda text: print(text, end="", flush=True), say=print)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
async def test_nothing_outlives_a_host_that_is_killed(marked: KernelSettings, project: Path, kind: str):
    arguments = [PYTHON, str(project), json.dumps(dict(marked.environ)), kind]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    began = await process.stdout.readline()
    found = len(processes(marked))
    process.send_signal(signal.SIGKILL)
    await process.wait()

    assert began == b"began\n"
    assert found >= 2
    assert is_gone(marked)
