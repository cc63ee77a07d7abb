"""Ports: the protocols through which the engine uses the outside world, each with at most five methods."""

from bridle.core.ports.environment import Clock, DurableSteps, Observer, Randomness, implements
from bridle.core.ports.hooks import HookEvent, HookRound, Hooks
from bridle.core.ports.models import (
    LocalModels,
    ModelInfoProvider,
    Models,
    Provider,
    SchemaEnforcer,
    TokenCounter,
)
from bridle.core.ports.programs import (
    Process,
    ProcessChanges,
    ProcessSpec,
    Sandbox,
    SandboxKind,
    SandboxStatus,
)
from bridle.core.ports.storage import (
    Blobs,
    Claims,
    DatedStore,
    FileTracker,
    Memory,
    MemoryHit,
    Revisions,
    Store,
)
from bridle.core.ports.tenants import FolderPolicy, TenantBudget, Tenants
from bridle.core.ports.tools import (
    AccessResolvingTool,
    ConditionalTool,
    GuardedDispatcher,
    SessionTool,
    Tool,
    ToolContext,
    ToolDispatcher,
    ToolOutput,
)

__all__ = [
    "AccessResolvingTool",
    "Blobs",
    "Claims",
    "Clock",
    "ConditionalTool",
    "DatedStore",
    "DurableSteps",
    "FileTracker",
    "FolderPolicy",
    "GuardedDispatcher",
    "HookEvent",
    "HookRound",
    "Hooks",
    "LocalModels",
    "Memory",
    "MemoryHit",
    "ModelInfoProvider",
    "Models",
    "Observer",
    "Process",
    "ProcessChanges",
    "ProcessSpec",
    "Provider",
    "Randomness",
    "Revisions",
    "Sandbox",
    "SandboxKind",
    "SandboxStatus",
    "SchemaEnforcer",
    "SessionTool",
    "Store",
    "TenantBudget",
    "Tenants",
    "TokenCounter",
    "Tool",
    "ToolContext",
    "ToolDispatcher",
    "ToolOutput",
    "implements",
]
