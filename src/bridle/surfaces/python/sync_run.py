"""`bridle.run`: run a prompt from a script without an event loop."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Unpack, overload

from bridle.core.errors import BridleError, UsageError
from bridle.core.ports import Compactor, Memory, Provider, Store
from bridle.surfaces.python import runtime
from bridle.surfaces.python.extensions import Hooks
from bridle.surfaces.python.options import RunKeywords
from bridle.surfaces.python.prompts import PromptLike
from bridle.surfaces.python.results import RunError, RunResult
from bridle.surfaces.python.tools import ToolLike

T = TypeVar("T")


class OpenKeywords(RunKeywords, total=False):
    """Options of `bridle.open`, for `bridle.run`."""

    home: str | Path | None
    ephemeral: bool
    daemon: bool
    cwd: str | Path | None
    agent: str
    tools: Sequence[ToolLike]
    providers: Mapping[str, Provider]
    store: Store | None
    compactor: Compactor | None
    memory: Memory | None
    hooks: Hooks
    settings: Mapping[str, Any]
    environ: Mapping[str, str] | None


@overload
def run(
    prompt: PromptLike, *, session_id: str | None = None, check: bool = True, **keywords: Unpack[OpenKeywords]
) -> RunResult[None]: ...
@overload
def run(
    prompt: PromptLike, *, output: type[T], session_id: str | None = None, **keywords: Unpack[OpenKeywords]
) -> RunResult[T]: ...
@overload
def run(
    prompt: PromptLike,
    *,
    output: Any,
    session_id: str | None = None,
    check: bool = True,
    **keywords: Unpack[OpenKeywords],
) -> RunResult[Any]: ...


def run(
    prompt: PromptLike,
    *,
    output: Any = None,
    session_id: str | None = None,
    check: bool = True,
    **keywords: Unpack[OpenKeywords],
) -> RunResult[Any]:
    """Run a prompt in a new session or the one with the id, and wait for the result.

    The keywords are those of `bridle.open`. Ctrl-C cancels the run and records its end. Raises RunError
    unless `check` is off, and UsageError if an event loop is already running.

    ```python
    print(bridle.run("what does this project do").text)
    ```
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise UsageError(
            "bridle.run would block the event loop that runs here", hint="await (await b.session()).run(…)"
        )

    async def opened() -> RunResult[Any]:
        async with runtime.open(**keywords) as b:
            session = await b.session(session_id)
            try:
                return await session.stream(prompt, output=output, check=check).wait()
            except RunError:
                raise
            except BridleError:
                if session_id is None and not (await session.state()).known.totals.runs:
                    await session.delete()  # the prompt was rejected: leave nothing behind
                raise

    return asyncio.run(opened())
