"""Processes that benches start: a scripted server, and programs that print their figures."""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measure import PYTHON

NO_TELEMETRY = {"LANGSMITH_TRACING": "false", "OPENAI_AGENTS_DISABLE_TRACING": "1"}


def child_env(**extra: str) -> dict[str, str]:
    """Return the environment of a measured process: it may write .pyc files, and contacts no other host."""
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return clean | NO_TELEMETRY | extra


def child_figures(*argv: str, python: str = PYTHON) -> list[float]:
    """Run a Python program and return the numbers it prints."""
    done = subprocess.run([python, *argv], env=child_env(), check=True, stdout=subprocess.PIPE, text=True)
    return [float(word) for word in done.stdout.split()]


@contextmanager
def serving(script: dict[str, Any]) -> Iterator[str]:
    """Serve a script from another process; yield its address for an OpenAI client."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "script.json"
        file.write_text(json.dumps(script))
        with subprocess.Popen(
            [PYTHON, "-m", "bridle.providers.scripted_server", str(file)],
            env=child_env(),
            stdout=subprocess.PIPE,
            text=True,
        ) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip() + "/v1"
            finally:
                server.terminate()
