"""Runs as the daemon of a Kontekst installation: with its config and files, and our home next to them."""

import logging
import socket
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from bridle.config.kontekst import KontekstConfig, create_config, make_home, read_kontekst
from bridle.config.settings import Settings

PROBE_S = 0.5

log = logging.getLogger("bridle.daemon")


def make_kontekst_home(file: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Create our home next to the files of an installation, and return an environment with BRIDLE_HOME set.

    A missing `config.toml` is created with Kontekst's defaults. Raises ConfigError with file, line and key.
    """
    create_config(Path(file))
    home = make_home(read_kontekst(Path(file), environ))
    return {**environ, "BRIDLE_HOME": str(home)}


def adapt_settings(settings: Settings) -> Settings:
    """Log what differs from Kontekst, and return settings that use a model server if one already runs."""
    kontekst = settings.kontekst
    if kontekst is None:
        return settings
    for note in kontekst.notes():
        log.info("%s", note)
    if not kontekst.starts_server or not _answers(kontekst):
        return settings
    log.info("a server answers at %sand will be used", kontekst.endpoint)
    llama = settings.providers["llama"]
    running = replace(llama, models_dir=None, host=None, port=None, ctx_size=None, n_gpu_layers=None)
    return replace(settings, providers={**settings.providers, "llama": running})


def _answers(kontekst: KontekstConfig) -> bool:
    try:
        with socket.create_connection(kontekst.server, PROBE_S):
            return True
    except OSError:
        return False
