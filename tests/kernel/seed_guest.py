"""A guest written only from the document of the first protocol, like any other implementation.

It knows `init exec tool_result snapshot restore shutdown` and sends `ready tool_call message exec_result
snapshot_result`, each with the fields of the document and nothing else.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys
import threading
import traceback
import uuid

names: dict = {"json": json, "asyncio": asyncio}
waiting: dict = {}
tools: set = set()


def send(tag: str, **fields: object) -> None:
    sys.__stdout__.write(json.dumps({"type": tag, **fields}) + "\n")
    sys.__stdout__.flush()


def wrapper(tool: dict) -> object:
    params = [one if isinstance(one, str) else one["name"] for one in tool["params"]]

    async def call(*args: object, **more: object) -> object:
        number = str(uuid.uuid4())
        future = waiting[number] = asyncio.get_running_loop().create_future()
        given = {**dict(zip(params, args, strict=False)), **more}
        send("tool_call", id=number, name=tool["name"], args=json.dumps(given))
        success, result = await future
        if not success:
            raise RuntimeError(result)
        return result

    return call


def message(text: str, *, kind: str) -> None:
    send("message", text=str(text), kind=kind)


async def execute(number: str, code: str) -> None:
    printed = io.StringIO()
    error = None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            tree = ast.parse(code)
            last = tree.body[-1] if tree.body else None
            if isinstance(last, ast.Expr):
                last.value = ast.Call(ast.Name("__show", ast.Load()), [last.value], [])
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            compiled = compile(ast.fix_missing_locations(tree), "<cell>", "exec", flags=flags)
            result = eval(compiled, names)
            if inspect.iscoroutine(result):
                await result
        except Exception:  # noqa: BLE001 - whatever a cell raises
            error = traceback.format_exc()
    send("exec_result", id=number, output=printed.getvalue(), response="", error=error)


def show(value: object) -> None:
    if value is not None:
        print(repr(value))


def kept() -> dict:
    found = {}
    for name, value in names.items():
        with contextlib.suppress(TypeError, ValueError):
            json.dumps(value)
            if not name.startswith("_") and name not in tools:
                found[name] = value
    return found


async def serve(loop: asyncio.AbstractEventLoop, lines: asyncio.Queue) -> None:
    running: set = set()
    while (line := await lines.get()) is not None:
        frame = json.loads(line)
        kind = frame["type"]
        if kind == "init":
            for tool in json.loads(frame["tools"]):
                names[tool["name"]] = wrapper(tool)
                tools.add(tool["name"])
            send("ready")
        elif kind == "exec":
            task = loop.create_task(execute(frame["id"], frame["code"]))
            running.add(task)
            task.add_done_callback(running.discard)
        elif kind == "tool_result":
            waiting.pop(frame["id"]).set_result((frame["success"], json.loads(frame["result"])))
        elif kind == "snapshot":
            send("snapshot_result", id=frame["id"], data=json.dumps({"vars": kept(), "files": {}}))
        elif kind == "restore":
            data = json.loads(frame["data"])
            names.update(data.get("vars", data))
            send("exec_result", id=frame["id"], output="", response="", error=None)
        elif kind == "shutdown":
            return


async def main() -> None:
    names.update(message=message, __show=show, __name__="__main__")
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue = asyncio.Queue()

    def read() -> None:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, line)
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    await serve(loop, lines)


if __name__ == "__main__":
    asyncio.run(main())
