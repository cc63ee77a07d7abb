"""The first thing a managed server's process runs: tie it to its owner's life, then become the server.

```
python -I -S launch.py OWNER_PID exec|watch PROGRAM ARG…      standard library only
   stdin: the API key on one line, then nothing; its end means that the owner is gone
```

`exec` becomes the program, after asking Linux for a SIGKILL when the owner dies. `watch` stays in between
and kills the process group when stdin ends; it is for systems that know no such signal.
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
# The user's own LLAMA_ARG_… would change a server that is ours; these are for any version of it.
_FIXED = {
    "LLAMA_ARG_OFFLINE": "1",
    "LLAMA_ARG_UI": "0",
    "LLAMA_ARG_WEBUI": "0",
    "LLAMA_ARG_NO_WEBUI": "1",
    "LLAMA_ARG_LOG_COLORS": "off",
}


def main(argv: list[str]) -> None:
    """Run the program in `argv`; returns only when the owner is gone already."""
    owner, mode, program = int(argv[1]), argv[2], argv[3:]
    if mode == "exec":
        # Before the question below, so that an owner who dies in between is noticed by one of the two.
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != owner:
        return
    environment = child_environment(dict(os.environ), _read_line(0))
    if mode == "exec":
        os.execve(program[0], program, environment)
    watch(program, environment)


def child_environment(environment: dict[str, str], key: str) -> dict[str, str]:
    """Return the server's environment: no secret of the user, and our key where `ps` does not show it."""
    kept = {
        name: value
        for name, value in environment.items()
        if not _SECRET.search(name) and not name.startswith("LLAMA_")
    }
    return kept | _FIXED | {"LLAMA_API_KEY": key}


def watch(program: list[str], environment: dict[str, str]) -> None:
    """Run the program as a child until it ends or stdin does, and end as it ended."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # the group gets it: the child ends, and then so do we
    child = subprocess.Popen(program, env=environment, stdin=subprocess.PIPE)
    threading.Thread(target=_end_with_stdin, daemon=True).start()
    code = child.wait()
    os._exit(code if code >= 0 else 128 - code)


def _end_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.killpg(0, signal.SIGKILL)


def _read_line(descriptor: int) -> str:
    """Read byte by byte: what follows the line belongs to the server."""
    line = b""
    while (byte := os.read(descriptor, 1)) not in (b"\n", b""):
        line += byte
    return line.decode()


if __name__ == "__main__":
    main(sys.argv)
