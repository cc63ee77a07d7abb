"""The sandbox: programs run in a cell and touch only what they were given.

| module | holds |
|---|---|
| `local` | `LocalSandbox`: the cells of every session, the `Sandbox` of the engine |
| `probe` | which walls work on this machine |
| `cell`, `launcher` | a cell from outside, and its first process inside |
| `bubblewrap`, `landlock` | the two kinds of walls |
| `shield`, `protect` | what is hidden and fixed: on the disk, and by name |
| `watch`, `sight` | has files kept before they change; which path a call means |
| `visible` | what a program that may only read can see |
| `syscalls`, `bpf` | which calls are refused or watched, as a filter for the kernel |
| `proxy` | the way to the network, by the rules |
"""

from bridle.sandbox.local import LocalSandbox

__all__ = ["LocalSandbox"]
