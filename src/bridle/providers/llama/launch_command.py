"""Launcher of a managed server: makes the process die with its owner, then runs the server.

```
python -I -S launch.py OWNER_PID exec|watch PROGRAM ARG…      standard library only
   stdin: the API key on one line, then nothing; EOF means that the owner is gone
```

`exec` replaces the launcher with the program, after asking Linux for a SIGKILL when the owner dies. `watch`
keeps the launcher running and kills the process group when stdin closes, for systems without that signal.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1
_SECRET = re.compile("key|token|secret|passw|credential|auth", re.IGNORECASE)
# The user's LLAMA_ARG_… must not configure our server; these values are for every version of it.
_FIXED = {
    "LLAMA_ARG_OFFLINE": "1",
    "LLAMA_ARG_UI": "0",
    "LLAMA_ARG_WEBUI": "0",
    "LLAMA_ARG_NO_WEBUI": "1",
    "LLAMA_ARG_LOG_COLORS": "off",
}


def main(argv: list[str]) -> None:
    """Run the program in `argv`; returns only if the owner is already gone."""
    owner, mode, program = int(argv[1]), argv[2], argv[3:]
    if mode == "exec":
        # Before the check below, so that one of the two notices an owner that dies in between.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != owner:
        return
    environment = child_environment(dict(os.environ), _read_line(0))
    if mode == "exec":
        os.execve(program[0], program, environment)
    watch(program, environment)


def child_environment(environment: dict[str, str], key: str) -> dict[str, str]:
    """Return the server's environment: without the user's secrets, with our key, which `ps` then hides."""
    kept = {
        name: value
        for name, value in environment.items()
        if not _SECRET.search(name) and not name.startswith("LLAMA_")
    }
    return kept | _FIXED | {"LLAMA_API_KEY": key}


def watch(program: list[str], environment: dict[str, str]) -> None:
    """Run the program as a child until it exits or stdin closes, then exit with its code."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # the whole group gets it: the child exits, then we do
    child = subprocess.Popen(program, env=environment, stdin=subprocess.PIPE)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    code = child.wait()
    os._exit(code if code >= 0 else 128 - code)


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def _read_line(descriptor: int) -> str:
    """Read one line byte by byte, because the rest of the input belongs to the server."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line.decode()


if __name__ == "__main__":
    main(sys.argv)
