"""The kernel: Python code runs in a guest of its own and calls tools by name.

| module | holds |
|---|---|
| `tool`, `prompt` | the tool `python`, and what a model is told |
| `pool` | the kernels of this process |
| `start`, `interpreter`, `settings` | how a kernel begins: its Python, its walls, its limits |
| `host`, `processes`, `held` | a kernel from outside, and what the system tells of it |
| `cell`, `calls`, `output`, `alarm` | one cell: its tool calls, what it prints, its time limit |
| `channel`, `frames` | the pipes to the guest, and what goes through them |
| `definitions`, `snapshot` | tools as functions; what a kernel held, sealed |
| `guest` | runs inside: the standard library only, nothing of ours |
"""

__all__: list[str] = []
