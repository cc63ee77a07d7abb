"""Nothing of a language server remains, however its owner ends."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lsp.conftest import CAST, environment

OWNER = """
import asyncio, sys
from bridle.lsp.languages import LocalLanguages
from bridle.lsp.settings import FolderLanguages, LanguageServer
from bridle.sandbox import LocalSandbox

root, script, confined = sys.argv[1:]

async def main():
    server = LanguageServer("toy", (sys.executable, "-S", script), (".toy",))
    folder = FolderLanguages(root, (server,), confined=confined == "yes", trusted=True)
    languages = LocalLanguages(lambda _: folder, LocalSandbox(home="/nonexistent"))
    await languages.symbols(root + "/a.toy", root)
    (view,) = await languages.views(root)
    print(view.pid, flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    await languages.aclose()

asyncio.run(main())
"""


@pytest.mark.parametrize("confined", ["yes", "no"])
@pytest.mark.parametrize("how", ["closed", "killed"])
def test_no_process_is_left(project: Path, confined: str, how: str):
    (project / "a.toy").write_text("def one\n")
    command = [sys.executable, "-c", OWNER, str(project), str(CAST / "toy.py"), confined]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment()) as owner:
        assert owner.stdout is not None
        server = int(owner.stdout.readline())
        watched = os.pidfd_open(server)
        assert os.path.exists(f"/proc/{server}")

        if how == "killed":
            owner.send_signal(signal.SIGKILL)
        else:
            owner.communicate("\n")
        owner.wait()

    poller = select.poll()
    poller.register(watched)
    assert poller.poll(10_000)
    os.close(watched)
