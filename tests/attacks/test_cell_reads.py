"""Attack 2 from a kernel: code that tries to read a denied file.

All command lines of `test_denied_reads.py` are run by code; what Python can do by itself is also done where
no one is on guard, to show that it does give the secret away there.
"""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.attacks.stage import ENDED, SECRET, Stage, in_a_cell, leaks, run_bare_cell
from tests.attacks.test_denied_reads import KEY, PRIVILEGED, READING, RULES

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHILD = "import os, sys; sys.stdout.write(open('secrets/key.txt').read())"

NATIVE = {
    "open": "print(open('secrets/key.txt').read())",
    "pathlib": "import pathlib; print(pathlib.Path('src/../secrets/key.txt').read_bytes())",
    "all below": "import pathlib\nfor p in pathlib.Path().rglob('*.pem'): print(p.read_text())",
    "os.walk": """
        import os
        for folder, _, names in os.walk('.', followlinks=True):
            for name in names:
                try: print(open(os.path.join(folder, name)).read())
                except (OSError, UnicodeDecodeError): pass
    """,
    "glob": "import glob\nfor name in glob.glob('s*/k*'): print(open(name).read())",
    "os.read": "import os; print(os.read(os.open('secrets/key.txt', os.O_RDONLY), 99))",
    "os.pread": "import os; print(os.pread(os.open('secrets/key.txt', os.O_RDONLY | os.O_NONBLOCK), 99, 0))",
    "by folder": "import os; f = os.open('secrets', 0); print(os.read(os.open('key.txt', 0, dir_fd=f), 99))",
    "by path only": """
        import os
        at = os.open('secrets/key.txt', os.O_PATH)
        print(open(f'/proc/self/fd/{at}').read())
    """,
    "chdir": "import os; os.chdir('secrets'); print(open('key.txt').read())",
    "fchdir": "import os; os.fchdir(os.open('secrets', os.O_PATH)); print(open('key.txt').read())",
    "mmap": "import mmap; f = open('secrets/key.txt'); print(mmap.mmap(f.fileno(), 0, prot=1)[:])",
    "ctypes open": """
        import ctypes
        libc, text = ctypes.CDLL(None), ctypes.create_string_buffer(99)
        libc.read(libc.open(b'secrets/key.txt', 0), text, 98)
        print(text.value)
    """,
    "ctypes fopen": """
        import ctypes
        libc, text = ctypes.CDLL(None), ctypes.create_string_buffer(99)
        libc.fopen.restype = libc.fgets.restype = ctypes.c_void_p
        file = libc.fopen(b'certs/server.pem', b'r')
        assert file
        libc.fgets(text, 98, ctypes.c_void_p(file))
        print(text.value)
    """,
    "link": "import os; os.link('secrets/key.txt', 'a'); print(open('a').read())",
    "link by folder": """
        import os
        f = os.open('certs', 0)
        os.link('server.pem', 'b', src_dir_fd=f)
        print(open('b').read())
    """,
    "symlink": "import os; os.symlink('secrets/key.txt', 'c'); print(open('c').read())",
    "symlink to folder": "import os; os.symlink('secrets', 'd'); print(open('d/key.txt').read())",
    "rename": "import os; os.rename('secrets/key.txt', 'e'); print(open('e').read())",
    "rename folder": "import os; os.rename('secrets', 'f'); print(open('f/key.txt').read())",
    "replace": "import os; os.replace('certs/server.pem', 'notes.txt'); print(open('notes.txt').read())",
    "exchange": """
        import ctypes
        assert ctypes.CDLL(None).renameat2(-100, b'secrets', -100, b'src', 2) == 0
        print(open('src/key.txt').read())
    """,
    "chmod": "import os; os.chmod('secrets', 0o777); print(open('secrets/key.txt').read())",
    "copy": "import shutil, tempfile; print(open(shutil.copy('secrets/key.txt', tempfile.mkdtemp())).read())",
    "move": "import shutil, tempfile; print(open(shutil.move('secrets/key.txt', tempfile.mkdtemp())).read())",
    "copytree": """
        import shutil, tempfile
        to = tempfile.mkdtemp() + '/copy'
        try: shutil.copytree('.', to, symlinks=True)
        except shutil.Error: pass
        print(open(to + '/secrets/key.txt').read())
    """,
    "tarfile": """
        import io, tarfile
        with tarfile.open(fileobj=(all := io.BytesIO()), mode='w') as tar: tar.add('certs')
        print(all.getvalue())
    """,
    "zipfile": """
        import io, zipfile
        with zipfile.ZipFile(all := io.BytesIO(), 'w') as made: made.write('secrets/key.txt')
        print(zipfile.ZipFile(all).read('secrets/key.txt'))
    """,
    "/proc/self/root": "import os; print(open(f'/proc/self/root{os.getcwd()}/secrets/key.txt').read())",
    "/proc/self/cwd": "print(open('/proc/self/cwd/secrets/key.txt').read())",
    "/proc/thread-self": "print(open('/proc/thread-self/cwd/secrets/key.txt').read())",
    "/proc of others": """
        import glob
        for way in glob.glob('/proc/[0-9]*/cwd'):
            try: print(open(way + '/secrets/key.txt').read())
            except OSError: pass
    """,
    "linecache": "import linecache; print(linecache.getlines('secrets/key.txt'))",
    "fileinput": "import fileinput\nfor line in fileinput.input('secrets/key.txt'): print(line)",
    "tokenize": "import tokenize; print(tokenize.open('secrets/key.txt').read())",
    "importlib": """
        from importlib.machinery import SourceFileLoader
        print(SourceFileLoader('key', 'key.py').get_data('secrets/key.txt'))
    """,
    "traceback": "exec(compile(open('secrets/key.txt').read(), 'x', 'exec'))",
    "pickle": """
        import pickle
        class Way:
            def __reduce__(self): return eval, ("print(open('secrets/key.txt').read())",)
        pickle.loads(pickle.dumps(Way()))
    """,
    "urllib": "import os, urllib.request as u; print(u.urlopen(f'file://{os.getcwd()}/secrets/key.txt').read())",
    "os.popen": "import os; print(os.popen('cat secrets/key.txt').read())",
    "os.system": "import os; assert os.system('cat secrets/key.txt') == 0",
    "stdin": "import subprocess; subprocess.run(['cat'], stdin=open('secrets/key.txt'))",
    "python": f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}], check=True)",
    "posix_spawn": """
        import os
        way = [(os.POSIX_SPAWN_OPEN, 0, 'secrets/key.txt', os.O_RDONLY, 0)]
        os.waitpid(os.posix_spawn('/bin/cat', ['cat'], os.environ, file_actions=way), 0)
    """,
    "fork": f"import os\nif not os.fork():\n    {CHILD}\n    sys.stdout.flush()\n    os._exit(0)\nos.wait()",
    "exec in a fork": """
        import os
        if not os.fork(): os.execv('/bin/cat', ['cat', 'secrets/key.txt'])
        os.wait()
    """,
    "multiprocessing": """
        import multiprocessing
        with multiprocessing.get_context('fork').Pool(1) as pool:
            print(pool.map(eval, ["open('secrets/key.txt').read()"]))
    """,
    "thread": """
        import threading
        made = threading.Thread(target=lambda: print(open('secrets/key.txt').read()))
        made.start(), made.join()
    """,
    "executor": """
        from concurrent.futures import ThreadPoolExecutor
        with ThreadPoolExecutor() as pool: print(pool.submit(lambda: open('secrets/key.txt').read()).result())
    """,
    "asyncio": """
        import asyncio
        async def main():
            made = await asyncio.create_subprocess_exec('cat', 'secrets/key.txt', stdout=-1)
            print(await made.stdout.read())
            await made.wait()
        asyncio.run(main())
    """,
    "sendfile": """
        import os
        a, b = os.pipe()
        os.sendfile(b, os.open('secrets/key.txt', 0), 0, 99)
        print(os.read(a, 99))
    """,
    "copy_file_range": """
        import os
        os.copy_file_range(os.open('secrets/key.txt', 0), os.open('g', os.O_RDWR | os.O_CREAT), 99)
        print(open('g').read())
    """,
    "splice": """
        import os
        a, b = os.pipe()
        os.splice(os.open('secrets/key.txt', 0), b, 99)
        print(os.read(a, 99))
    """,
    "pty": "import pty; pty.spawn(['cat', 'secrets/key.txt'])",
    "tricked open": """
        import builtins, io, posix
        builtins.open = lambda name, *more: io.FileIO(posix.open(name, 0))
        print(open('secrets/key.txt').read())
    """,
    "open_code": "import io, os; print(io.open_code(os.path.abspath('secrets/key.txt')).read())",
    "shell script": "import subprocess; subprocess.run(['bash', '-v', 'secrets/key.txt'])",
}

# Each needs rights that no one has inside: with the walls gone they would be a way.
RIGHTS = {
    "/proc/1/root": "import os; print(open(f'/proc/1/root{os.getcwd()}/secrets/key.txt').read())",
    "umount": """
        import ctypes
        ctypes.CDLL(None).umount2(b'secrets', 2)
        print(open('secrets/key.txt').read())
    """,
    "bind": """
        import ctypes, os
        os.makedirs('b', exist_ok=True)
        ctypes.CDLL(None).mount(b'.', b'b', None, 4096, None)
        print(open('b/secrets/key.txt').read())
    """,
    "open_tree": """
        import ctypes
        at = ctypes.CDLL(None).syscall(428, -100, b'.', 1)
        print(open(f'/proc/self/fd/{at}/secrets/key.txt').read())
    """,
    "unshare": """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.unshare(0x10020000), libc.umount2(b'secrets', 2)
        print(open('secrets/key.txt').read())
    """,
    "setns": """
        import ctypes, os
        ctypes.CDLL(None).setns(os.open('/proc/1/ns/mnt', 0), 0)
        print(open('secrets/key.txt').read())
    """,
    "chroot": "import os; os.chroot('/proc/1/root'); print(open('secrets/key.txt').read())",
    "handle": """
        import ctypes
        libc, handle, mount = ctypes.CDLL(None), ctypes.create_string_buffer(136), ctypes.c_int()
        handle[0] = 128
        assert libc.name_to_handle_at(-100, b'secrets/key.txt', handle, ctypes.byref(mount), 0) == 0
        print(open(libc.open_by_handle_at(-100, handle, 0)).read())
    """,
    "setuid": "import os; os.setuid(0); os.setgid(0); print(open('secrets/key.txt').read())",
}


def plain(code: str) -> str:
    """Return code without what indents it here."""
    lines = code.strip("\n").split("\n")
    indent = len(lines[0]) - len(lines[0].lstrip())
    return "\n".join(line[indent:] for line in lines)


@pytest.fixture
def stage(kernel_stage: Stage) -> Stage:
    """Return the stage with symbolic links to what is denied."""
    for name, target in (("short", "secrets"), ("short-file", KEY)):
        if not (kernel_stage.project / name).is_symlink():
            (kernel_stage.project / name).symlink_to(target)
    return kernel_stage


@pytest.fixture
def unguarded(world: Path) -> Stage:
    """Return another world, without the sandbox."""
    return Stage(world)


def is_whole(stage: Stage) -> bool:
    """Return whether the secret is still there."""
    return (
        SECRET in (stage.project / KEY).read_text()
        and SECRET in (stage.project / "certs/server.pem").read_text()
    )


@pytest.mark.parametrize("command", [*READING, *PRIVILEGED])
async def test_no_command_of_a_cell_shows_a_denied_file(stage: Stage, command: str):
    """`test_denied_reads.py` shows that these commands reveal it without the rule."""
    seen = await stage.cell(in_a_cell(command), RULES)

    assert (leaks(seen.everything, SECRET), ENDED in seen.text, is_whole(stage)) == (False, True, True)


async def test_the_same_way_shows_it_without_a_rule(unguarded: Stage):
    """The control of the test above."""
    seen = await unguarded.cell(in_a_cell(f"cat {KEY}"))
    await unguarded.close()

    assert leaks(seen.everything, SECRET)


@pytest.mark.parametrize("way", NATIVE)
async def test_no_code_shows_a_denied_file(stage: Stage, unguarded: Stage, way: str):
    code = plain(NATIVE[way])

    guarded = await stage.cell(code, RULES)
    shown = await asyncio.to_thread(run_bare_cell, code, unguarded)

    assert (leaks(guarded.everything, SECRET), leaks(shown, SECRET)) == (False, True)
    assert is_whole(stage)


@pytest.mark.parametrize("way", RIGHTS)
async def test_no_right_of_root_uncovers_a_denied_file_for_code(stage: Stage, way: str):
    seen = await stage.cell(plain(RIGHTS[way]), RULES)

    assert (leaks(seen.everything, SECRET), seen.is_error) == (False, True)


@pytest.mark.parametrize("path", ["~/.ssh/id_ed25519", "~/.bridle/config.toml", "~/.bridle/kernel.key"])
async def test_what_is_hidden_without_a_rule_is_hidden_from_code(stage: Stage, path: str):
    await stage.cell("x = 1")  # makes the key
    code = f"import os; print(len(open(os.path.expanduser({path!r}), 'rb').read()))"

    seen = await stage.cell(code)
    shown = await asyncio.to_thread(run_bare_cell, code, stage)

    assert seen.text.splitlines()[-1].startswith("PermissionError: [Errno 13]")
    assert int(shown) > 0


# A kernel lives long, and people continue working meanwhile: its walls must not grow old.
async def test_what_comes_to_be_denied_is_hidden_from_a_kernel_that_lives(unguarded: Stage):
    stage, project = unguarded, unguarded.project
    first = await stage.cell("import os; print(len(os.listdir('certs')))", RULES)
    (project / "certs/new.pem").write_text(SECRET)

    seen = await stage.cell("print(open('certs/new.pem').read())", RULES)
    await stage.close()

    assert (first.text, leaks(seen.everything, SECRET)) == ("1", False)


@pytest.mark.parametrize("how", ["file", "folder"])
async def test_what_was_replaced_is_hidden_from_a_kernel_that_lives(unguarded: Stage, how: str):
    """Like editors that save a file by replacing it: the hidden file is gone."""
    stage, project = unguarded, unguarded.project
    await stage.cell("x = 1", RULES)
    if how == "file":
        (project / "certs/draft").write_text(SECRET)
        os.rename(project / "certs/draft", project / "certs/server.pem")
    else:
        os.rename(project / "secrets", stage.world / "aside")
        shutil.copytree(stage.world / "aside", project / "secrets")

    path = "certs/server.pem" if how == "file" else KEY
    seen = await stage.cell(f"print(open({path!r}).read())", RULES)
    await stage.close()

    assert leaks(seen.everything, SECRET) is False
    assert seen.text.splitlines()[-1].startswith("PermissionError: [Errno 13]")


async def test_a_rule_that_is_added_holds_for_a_kernel_that_lives(unguarded: Stage):
    before = await unguarded.cell(f"print(open({KEY!r}).read())")
    after = await unguarded.cell(f"print(open({KEY!r}).read())", RULES)
    await unguarded.close()

    assert (leaks(before.text, SECRET), leaks(after.everything, SECRET)) == (True, False)


async def test_what_was_open_before_a_rule_came_is_not_open_after_it(unguarded: Stage):
    """The rule causes a new kernel, without the old one's copy of the file."""
    await unguarded.cell(f"import builtins; builtins.held = open({KEY!r})")

    seen = await unguarded.cell("import builtins; print(builtins.held.read())", RULES)
    await unguarded.close()

    assert (leaks(seen.everything, SECRET), "AttributeError" in seen.text) == (False, True)
