"""Wiring: build a SessionService from Settings; the only package that imports every concrete implementation.

Implementations are imported where they are needed, so that a command that only lists sessions does not load
the code for runs.
"""

from bridle.app.comms import comms_of, open_comms
from bridle.app.folders import agent_in, hook_site, hooks_in, skills_in, writable_folders
from bridle.app.memory import memory_in
from bridle.app.models import models_dir, open_models
from bridle.app.service import Extensions, open_service
from bridle.app.stores import open_blobs, open_claims, open_store, revisions_dir
from bridle.app.telemetry import open_telemetry
from bridle.app.tools import kernel_settings, open_sandbox, open_tools, open_traps

__all__ = [
    "Extensions",
    "agent_in",
    "comms_of",
    "hook_site",
    "hooks_in",
    "kernel_settings",
    "memory_in",
    "models_dir",
    "open_blobs",
    "open_claims",
    "open_comms",
    "open_models",
    "open_sandbox",
    "open_service",
    "open_store",
    "open_telemetry",
    "open_tools",
    "open_traps",
    "revisions_dir",
    "skills_in",
    "writable_folders",
]
