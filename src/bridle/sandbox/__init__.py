"""The sandbox: programs run confined and can access only what they are given.

| module | holds |
|---|---|
| `local` | `LocalSandbox`: the cells of every session; implements the engine's `Sandbox` |
| `probe` | which kind of sandbox works on this machine |
| `cell`, `launcher` | a cell as Bridle controls it, and its first process inside |
| `bubblewrap`, `landlock` | the two kinds of sandbox |
| `protected_paths`, `path_check` | what is hidden and read-only: by paths on disk, and by name |
| `syscall_watch`, `process_paths` | saves files before they change; resolves the paths of system calls |
| `visible_paths` | what a read-only program can see |
| `syscalls`, `seccomp_filter` | which system calls are refused or watched, as a kernel filter |
| `proxy` | network access, judged by the rules |
"""

from bridle.sandbox.local import LocalSandbox

__all__ = ["LocalSandbox"]
