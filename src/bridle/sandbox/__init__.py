"""The sandbox: programs run in a cell and reach only what they were given.

| module | holds |
|---|---|
| `local` | `LocalSandbox`: the cells of every session; implements the engine's `Sandbox` |
| `probe` | which kind of sandbox works on this machine |
| `cell`, `launcher` | a cell as Bridle controls it, and its first process inside |
| `bubblewrap`, `landlock` | the two kinds of sandbox |
| `shield`, `protect` | what is hidden and read-only: by paths on disk, and by name |
| `watch`, `sight` | saves files before they change; resolves the path that a system call means |
| `visible` | what a read-only program can see |
| `syscalls`, `bpf` | which system calls are refused or watched, as a kernel filter |
| `proxy` | network access, judged by the rules |
"""

from bridle.sandbox.local import LocalSandbox

__all__ = ["LocalSandbox"]
