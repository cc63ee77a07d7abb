"""Adapters to models: one file per API, and a scripted model for tests and demos.

The modules that open connections (`http`, `openai`, `scripted_server`) are not imported from here.
"""

from bridle.providers.catalog import ModelCatalog, ProviderEntry
from bridle.providers.script import (
    Call,
    ErrorFault,
    Expect,
    GarbageFault,
    HangFault,
    HttpFault,
    Reply,
    ResetFault,
    Script,
    TruncateFault,
    load_script,
    parse_script,
)
from bridle.providers.scripted import ScriptedProvider

__all__ = [
    "Call",
    "ErrorFault",
    "Expect",
    "GarbageFault",
    "HangFault",
    "HttpFault",
    "ModelCatalog",
    "ProviderEntry",
    "Reply",
    "ResetFault",
    "Script",
    "ScriptedProvider",
    "TruncateFault",
    "load_script",
    "parse_script",
]
