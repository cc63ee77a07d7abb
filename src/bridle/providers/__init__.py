"""Model providers: one module per vendor API, and a scripted model for tests and demos.

This package does not import the modules that open connections (`factory`, `http`, the vendor APIs,
`scripted_server`).
"""

from bridle.providers.catalog import ModelCatalog
from bridle.providers.provider_settings import ModelEntry, ModelFacts, ProviderEntry
from bridle.providers.script import (
    ErrorFault,
    Expect,
    GarbageFault,
    HangFault,
    HttpFault,
    ResetFault,
    Script,
    ScriptCall,
    ScriptReply,
    TruncateFault,
    load_script,
    parse_script,
)
from bridle.providers.scripted import ScriptedProvider

__all__ = [
    "ErrorFault",
    "Expect",
    "GarbageFault",
    "HangFault",
    "HttpFault",
    "ModelCatalog",
    "ModelEntry",
    "ModelFacts",
    "ProviderEntry",
    "ResetFault",
    "Script",
    "ScriptCall",
    "ScriptReply",
    "ScriptedProvider",
    "TruncateFault",
    "load_script",
    "parse_script",
]
