"""Ports: the protocols through which the engine uses the outside world, each with at most five methods."""

from bridle.core.ports.hooks import HookEvent, HookRound, Hooks
from bridle.core.ports.models import KnowsModels, LocalModels, Models, Provider, SchemaHolder, TokenCounter
from bridle.core.ports.offering import offers
from bridle.core.ports.programs import Changes, Process, ProcessSpec, Sandbox, SandboxKind, SandboxStatus
from bridle.core.ports.records import Blobs, Claims, DatedStore, Keeper, Memory, Recalled, Revisions, Store
from bridle.core.ports.surroundings import Chance, Clock, Observer, Steps
from bridle.core.ports.tenants import Purse, Tenants, Workplaces
from bridle.core.ports.tools import (
    ForeseeingTool,
    GuardedDispatcher,
    OccasionalTool,
    SessionTool,
    SlowTool,
    Tool,
    ToolContext,
    ToolDispatcher,
    ToolOutput,
)

__all__ = [
    "Blobs",
    "Chance",
    "Changes",
    "Claims",
    "Clock",
    "DatedStore",
    "ForeseeingTool",
    "GuardedDispatcher",
    "HookEvent",
    "HookRound",
    "Hooks",
    "Keeper",
    "KnowsModels",
    "LocalModels",
    "Memory",
    "Models",
    "Observer",
    "OccasionalTool",
    "Process",
    "ProcessSpec",
    "Provider",
    "Purse",
    "Recalled",
    "Revisions",
    "Sandbox",
    "SandboxKind",
    "SandboxStatus",
    "SchemaHolder",
    "SessionTool",
    "SlowTool",
    "Steps",
    "Store",
    "Tenants",
    "TokenCounter",
    "Tool",
    "ToolContext",
    "ToolDispatcher",
    "ToolOutput",
    "Workplaces",
    "offers",
]
