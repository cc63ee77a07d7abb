"""Bridle, a local-first LLM agent runtime: the public Python API.

```python
import bridle

async with bridle.open() as b:
    session = await b.session()
    print(await session.run("what does this project do"))
```

Every public name is an attribute of this module and is imported on first use, so `import bridle` is fast.
`__init__.pyi` repeats the names for type checkers.
"""

from importlib import import_module

__version__ = "0.1.0"

_PLACES = """
bridle.core.budget Limits
bridle.core.errors BridleError ConfigError HookError KeyTaken ProviderError SessionBusy SessionConflict
bridle.core.errors SessionError SessionNotFound SessionNotRunning StoreCorrupt StoreError StoreFull
bridle.core.errors ToolError UsageError
bridle.core.hook Allow AssistantTextPatch Deny HookInvocation HookResponse ModelRequestPatch RunResultPatch
bridle.core.hook ToolArgsPatch ToolResultPatch
bridle.core.ids CallId RunId SessionId
bridle.core.messages Media Message Reasoning Text ToolCall ToolResult Usage
bridle.core.model Model ModelReply ModelRequest Price
bridle.core.ports Compactor Memory MemoryHit Provider Store SummaryRequest Tool ToolContext
bridle.core.ports ToolDispatcher ToolOutput
bridle.core.protocol Answer ApprovalRequested Delta Event MessageAdded ModelReplied Question QuestionAsked
bridle.core.protocol ReasoningDelta Record RunEnded RunStarted TextDelta ToolFinished ToolOutputDelta
bridle.core.protocol SessionOptions ToolStarted
bridle.core.queries NextContext RewindPlan
bridle.core.server_views ServerView
bridle.core.session_api Receipt
bridle.core.skill Skill
bridle.core.summary SessionSummary
bridle.core.tool Access Subject ToolSpec
bridle.kernel.cell CellResult
bridle.kernel.snapshot TakenSnapshot
bridle.stores.record_lines RowStore
bridle.surfaces.shared.folder_info AgentRow ModelView RuleList
bridle.surfaces.python.callbacks AnswerCallback Approval Approve
bridle.surfaces.python.extensions Hook hook
bridle.surfaces.python.kernel Kernel KernelOptions KernelPool
bridle.surfaces.python.runtime Bridle open
bridle.surfaces.python.options RunKeywords
bridle.surfaces.python.prompts media
bridle.surfaces.python.results RunCancelled RunDenied RunError RunFailed RunLimited RunResult
bridle.surfaces.python.sync_run run
bridle.surfaces.python.session Session
bridle.surfaces.python.stream RunStream
bridle.surfaces.python.tools FunctionTool tool
bridle.surfaces.shared.usage AllStats Stats
"""
_HOME = {name: module for module, *names in map(str.split, _PLACES.strip().splitlines()) for name in names}

__all__ = ["__version__", *sorted(_HOME)]  # noqa: PLE0604  they are strings


def __getattr__(name: str) -> object:
    module = _HOME.get(name)
    if module is None:
        raise AttributeError(f"module 'bridle' has no attribute {name!r}")
    import_module("bridle.system.platform").require_posix()
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return __all__
