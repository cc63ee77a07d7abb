"""The Python kernel: runs a model's code in a separate process, where each tool is a Python function.

| module | holds |
|---|---|
| `tool`, `prompt` | the tool `python`, and the text that explains it to a model |
| `pool` | the kernels of this process |
| `start`, `interpreter`, `settings` | how a kernel starts: its Python, its sandbox, its limits |
| `host`, `processes`, `open_files` | a kernel seen from Bridle, and the state of its processes |
| `cell`, `tool_calls`, `output`, `alarm` | one cell: its tool calls, its printed text, its time limit |
| `channel`, `frames` | the pipes to the guest, and the lines sent through them |
| `tool_functions`, `snapshot` | tools as functions; a kernel's saved state |
| `guest` | the program inside the kernel process: standard library only, no Bridle code |
"""

__all__: list[str] = []
