"""Manages a llama-server: one that Bridle starts, restarts and stops, or one that already runs.

```
          ready()                        health 200
 none ───────────────▶ starting ───────────────────────▶ well ──┐ ready()
  ▲                      │ ▲                              │ ◀────┘
  │ aclose()             │ └────── after a pause ─────────┤ died, or failed a health check
  └──────────────────────┴─ died or too slow: an error ◀──┘ too often: an error
```

A restart happens only when the next request needs the server. All requests that come while it starts wait for
the same start; if one of them is cancelled, the start continues for the others.
"""

import asyncio
import secrets
import socket
from collections import deque
from urllib.parse import urlsplit

from msgspec import Struct

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.providers.llama.options import LlamaOptions, build_command, check_options
from bridle.providers.llama.server_client import ServerAddress, ServerClient, ServerFacts
from bridle.providers.llama.server_process import ServerProcess, spawn

ASK_TIMEOUT_S = 10.0
HEALTH_TIMEOUT_S = 5.0
CRASH_NOTICE_S = 1.0  # a process may exit this long after its connections close
FIRST_PAUSE_S, LAST_PAUSE_S = 0.02, 0.25  # between health checks while the model loads
BIND_ATTEMPTS = 3
_SILENT: frozenset[ProviderErrorKind] = frozenset({"connection_reset", "network_timeout"})


class RestartPolicy(Struct, frozen=True):
    """How often a server may die, and how long to wait before a restart."""

    max_crashes: int = 5
    window_s: float = 300.0
    first_pause_s: float = 0.25
    max_pause_s: float = 15.0
    silence_s: float = 5.0
    """How long the health check may take after a failed request."""

    def pause_s(self, crashes: int) -> float:
        """Return the pause after this many crashes within the window."""
        return min(self.first_pause_s * 2.0 ** min(crashes - 1, 60), self.max_pause_s) if crashes else 0.0


class LlamaServer:
    """Manages one server process; the first request starts it."""

    def __init__(
        self,
        who: str,
        options: LlamaOptions,
        *,
        api_key: str = "",
        restart: RestartPolicy | None = None,
    ) -> None:
        self._who = who
        self._options = options
        self._key = api_key or secrets.token_hex(16)
        self._restart = restart or RestartPolicy()
        self._control = ServerClient(who)
        self._starting = asyncio.Lock()  # at most one process, and one start, at a time
        self._child: ServerProcess | None = None
        self._address: ServerAddress | None = None
        self._facts: dict[str, ServerFacts] = {}
        self._crashes: deque[float] = deque(maxlen=self._restart.max_crashes)
        self._was_well = False
        self._is_suspect = False

    @property
    def options(self) -> LlamaOptions:
        """The options the server is started with."""
        return self._options

    @property
    def control(self) -> ServerClient:
        """The client for the server's endpoints other than chat."""
        return self._control

    @property
    def window_guess(self) -> int:
        """The context of one request in tokens, before the server runs; 0 if unknown."""
        return self._options.window_guess

    @property
    def pid(self) -> int | None:
        """The process id while the server runs, else None."""
        return self._child.pid if self._child and self._child.is_alive else None

    @property
    def log(self) -> list[str]:
        """The last lines the process printed, without the API key."""
        return self._child.lines if self._child else []

    async def ready(self) -> ServerAddress:
        """Return the address of a healthy server, starting it if needed.

        Raises ConfigError for invalid options, ProviderError if the server does not start.
        """
        if self._address and self._child and self._child.is_alive and not self._is_suspect:
            return self._address
        async with self._starting:
            return await self._ensure_healthy()

    async def facts(self, model: str = "") -> ServerFacts:
        """Return what the server reports about a model; raises like `ready`, or ProviderError."""
        address = await self.ready()
        name = model if self._options.models_dir else ""
        if name not in self._facts:
            # A server with many models loads this one before it responds.
            timeout_s = self._options.start_timeout_s if name else ASK_TIMEOUT_S
            self._facts[name] = await self._control.facts(address, name, timeout_s)
        return self._facts[name]

    async def explain(self, error: ProviderError) -> ProviderError:
        """Return the real cause of a failed request: the exit of the server, if it died; else `error`."""
        if error.kind not in _SILENT or not self._child:
            return error
        child = self._child
        await asyncio.wait([child.ended], timeout=CRASH_NOTICE_S)
        if not child.ended.done():
            self._is_suspect = True
            return error
        return ProviderError(
            f"{self._who}: the server died while it answered ({_exit_text(child)})", kind="connection_reset"
        )

    async def aclose(self) -> None:
        """Stop the process and close the connections; a later request starts it again.

        A request that waits for the start gets an error.
        """
        if self._child:
            await self._child.stop(self._options.stop_timeout_s)
        async with self._starting:
            child, self._child, self._address = self._child, None, None
            self._facts.clear()
            self._crashes.clear()
            try:
                if child:
                    await child.stop(self._options.stop_timeout_s)
            finally:
                await self._control.aclose()

    # ------------------------------------------------------------------ start, under the lock

    async def _ensure_healthy(self) -> ServerAddress:
        await self._check_process()
        for attempt in range(1, BIND_ATTEMPTS + 1):
            if self._child is None:
                await self._spawn()
            child, address = self._child, self._address
            assert child is not None
            assert address is not None
            if await self._wait_until_healthy(child, address):
                self._was_well = True
                return address
            self._forget()
            await child.ended
            if self._options.port or attempt == BIND_ATTEMPTS or "bind" not in child.last_words:
                raise self._died(child)
        raise AssertionError("unreachable")

    async def _check_process(self) -> None:
        """Drop an exited process, and stop one that fails its health check."""
        if self._child is None:
            return
        if self._child.is_alive and self._is_suspect and self._address:
            self._is_suspect = False
            if await self._control.is_healthy(self._address, self._restart.silence_s):
                return
            await self._child.stop(self._options.stop_timeout_s)
        if not self._child.is_alive:
            self._forget()

    async def _spawn(self) -> None:
        await asyncio.to_thread(check_options, self._options)
        await self._pause()
        port = self._options.port or _free_port(self._options.connect_host)
        if self._options.port and not _is_free(self._options.connect_host, port):
            raise ProviderError(
                f"{self._who}: port {port} is taken by another program",
                kind="unknown",
                hint="choose another port (0 picks a free one), or configure the program there as a provider",
            )
        self._child = await spawn(build_command(self._options, port), self._key)
        host = self._options.connect_host
        self._address = ServerAddress(f"http://{f'[{host}]' if ':' in host else host}:{port}", self._key)

    async def _pause(self) -> None:
        """Wait for the pause after recent crashes; raises ProviderError after too many."""
        now = asyncio.get_running_loop().time()
        recent = [at for at in self._crashes if now - at < self._restart.window_s]
        if len(recent) >= self._restart.max_crashes:
            raise ProviderError(
                f"{self._who}: the server died {len(recent)} times"
                f" within {self._restart.window_s:g} s and is not started again",
                kind="unknown",
                hint="check the model file and the free memory",
            )
        if recent:
            await asyncio.sleep(max(0.0, recent[-1] + self._restart.pause_s(len(recent)) - now))

    async def _wait_until_healthy(self, child: ServerProcess, address: ServerAddress) -> bool:
        """Return True once the model is loaded, False if the server died; ProviderError if too slow."""
        loop = asyncio.get_running_loop()
        deadline = child.started_at + self._options.start_timeout_s
        pause_s = FIRST_PAUSE_S
        while child.is_alive:
            if await self._control.is_healthy(address, HEALTH_TIMEOUT_S):
                return child.is_alive
            if loop.time() > deadline:
                await child.stop(self._options.stop_timeout_s)
                self._forget()
                raise ProviderError(
                    f"{self._who}: the server was not ready after {self._options.start_timeout_s:g} s"
                    f" ({child.last_words or 'it printed nothing'})",
                    kind="unknown",
                    hint="a larger start_timeout helps a slow disk",
                )
            await asyncio.wait([child.ended], timeout=pause_s)
            pause_s = min(pause_s * 1.5, LAST_PAUSE_S)
        return False

    def _forget(self) -> None:
        """Drop an exited process and count the crash."""
        self._child, self._address, self._is_suspect = None, None, False
        self._facts.clear()
        self._crashes.append(asyncio.get_running_loop().time())

    def _died(self, child: ServerProcess) -> ProviderError:
        # A server that worked before may work again; one that never did has a permanent fault.
        kind: ProviderErrorKind = "server_error" if self._was_well else "unknown"
        text = f"{self._who}: the server ended before it was ready ({_exit_text(child)})"
        return ProviderError(text, kind=kind, hint="check the model file and the options of the server")


class ExternalServer:
    """A llama-server that Bridle did not start, and never stops."""

    def __init__(self, who: str, base_url: str, *, api_key: str = "", window_guess: int = 0) -> None:
        parts = urlsplit(base_url)
        self._address = ServerAddress(f"{parts.scheme}://{parts.netloc}", api_key)
        self._control = ServerClient(who)
        self._window_guess = window_guess
        self._facts: dict[str, ServerFacts] = {}

    @property
    def control(self) -> ServerClient:
        """The client for the server's endpoints other than chat."""
        return self._control

    @property
    def window_guess(self) -> int:
        """The configured context of one request in tokens; 0 if not set."""
        return self._window_guess

    async def ready(self) -> ServerAddress:
        """Return the address, without a check."""
        return self._address

    async def facts(self, model: str = "") -> ServerFacts:
        """Return what the server reports about a model; raises ProviderError."""
        if model not in self._facts:
            self._facts[model] = await self._control.facts(self._address, model, ASK_TIMEOUT_S)
        return self._facts[model]

    async def explain(self, error: ProviderError) -> ProviderError:
        """Return `error`; after a connection failure drop the facts, as another server may run there next."""
        if error.kind in _SILENT:
            self._facts.clear()
        return error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._control.aclose()


def _exit_text(child: ServerProcess) -> str:
    return f"{child.exit_text}: {child.last_words}" if child.last_words else child.exit_text


def _free_port(host: str) -> int:
    with _socket(host) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def _is_free(host: str, port: int) -> bool:
    """Return True if a port is free; some servers would share a used port instead of failing."""
    with _socket(host) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # earlier connections may be in TIME_WAIT
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _socket(host: str) -> socket.socket:
    return socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
