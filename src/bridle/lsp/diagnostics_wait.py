"""Waits until a server has reported diagnostics for the current versions of files."""

import asyncio
from collections.abc import Sequence
from time import monotonic

from msgspec import Raw

from bridle.core.errors import ToolError
from bridle.lsp.documents import Document
from bridle.lsp.instance import Instance
from bridle.lsp.settings import Timeouts

MAX_OTHERS = 16
"""How many other open files are also checked: an edit may break them, too."""


async def wait_for_diagnostics(
    instance: Instance, documents: Sequence[Document], deadline: float, pace: Timeouts
) -> bool:
    """Wait until a server has reported on these files, and let it report on others; False on timeout.

    Raises ToolError when the server exits.
    """
    _check(instance)
    if instance.pulls:
        return await wait_until_indexed(instance, deadline) and await _pull(instance, documents, deadline)
    return await _listen(instance, documents, deadline, pace)


async def wait_until_indexed(instance: Instance, deadline: float) -> bool:
    """Wait until a server has indexed the project: until then answers are incomplete. False on timeout."""
    while instance.progress and instance.is_alive:
        if not await instance.bell.wait(deadline - _now()):
            return False
    return True


async def _pull(instance: Instance, documents: Sequence[Document], deadline: float) -> bool:
    named = {document.path for document in documents}
    others = [one for one in instance.documents.recent(MAX_OTHERS) if one.path not in named]
    left = max(deadline - _now(), 0.001)
    results = await asyncio.gather(
        *(instance.pull(document, left) for document in (*documents, *others)), return_exceptions=True
    )
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, ToolError):
            raise result
    _check(instance)
    return all(result is None for result in results[: len(documents)])


async def _listen(instance: Instance, documents: Sequence[Document], deadline: float, pace: Timeouts) -> bool:
    diagnostics = instance.diagnostics
    silence: float | None = None
    while unheard := [document for document in documents if not diagnostics.has_report(document.path)]:
        may_be_all = all(diagnostics.may_stay_silent(document.path) for document in unheard)
        if may_be_all and silence is None:
            await _ask_something(instance, unheard, deadline)
            silence = _now() + max(pace.clean_s, 2 * diagnostics.delay_s)
            continue
        until = min(deadline, silence) if may_be_all and silence is not None else deadline
        if not await instance.bell.wait(until - _now()):
            if until < deadline:
                break
            return False
        _check(instance)
        if instance.pulls:  # some register it only after `initialize`
            return await wait_for_diagnostics(instance, documents, deadline, pace)
    if all(diagnostics.has_versions(document.path) for document in documents):
        if len(instance.documents.recent(2)) < 2:
            return True
    elif not await wait_until_indexed(instance, deadline):
        return False
    if monotonic() - diagnostics.last_s >= pace.quiet_s:
        return True
    await _ask_something(instance, documents, deadline)
    while (left := deadline - _now()) > 0 and await instance.bell.wait(min(pace.quiet_s, left)):
        _check(instance)
    return True


async def _ask_something(instance: Instance, documents: Sequence[Document], deadline: float) -> None:
    """Wait for any response: the silence of a busy server means nothing."""
    if documents and instance.supports("textDocument/documentSymbol"):
        params = {"textDocument": {"uri": documents[0].uri}}
        try:
            await instance.connection.ask(
                "textDocument/documentSymbol", params, Raw, max(deadline - _now(), 0.001)
            )
        except ToolError:
            _check(instance)


def _check(instance: Instance) -> None:
    if not instance.is_alive:
        raise ToolError(instance.connection.why_gone)


def _now() -> float:
    return asyncio.get_running_loop().time()
