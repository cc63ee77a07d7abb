"""Model providers: one module per vendor API, and a scripted model for tests and demos.

This package does not import the modules that open connections (`factory`, `http`, the vendor APIs,
`scripted_server`).
"""

from bridle.providers.catalog import ModelCatalog
from bridle.providers.provider_settings import ModelEntry, ModelFacts, ProviderEntry
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
    "ModelEntry",
    "ModelFacts",
    "ProviderEntry",
    "Reply",
    "ResetFault",
    "Script",
    "ScriptedProvider",
    "TruncateFault",
    "load_script",
    "parse_script",
]
