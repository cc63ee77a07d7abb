"""Probes for local model servers: Ollama, LM Studio, vLLM, llama-server; no other host is contacted."""

import ipaddress
from urllib.parse import urlsplit

from bridle.core.errors import ProviderError
from bridle.providers.llama.server_client import ServerAddress, ServerClient

PROBE_TIMEOUT_S = 0.5


def is_loopback(base_url: str) -> bool:
    """Return True if an address is on this machine."""
    try:
        host = urlsplit(base_url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def list_models(base_url: str, timeout_s: float = PROBE_TIMEOUT_S) -> list[str] | None:
    """Return the model names of a server; None if no server there lists models.

    No key is sent. A server that requires one counts as running, with an empty list.
    """
    parts = urlsplit(base_url)
    control = ServerClient(base_url)
    try:
        address = ServerAddress(f"{parts.scheme}://{parts.netloc}")
        answer = await control.ask(address, "/v1/models", timeout_s=timeout_s)
    except ProviderError:
        return None
    finally:
        await control.aclose()
    if answer.status in (401, 403):
        return []
    match answer.body:
        case {"data": list(models)} if answer.status == 200:
            return [
                model["id"]
                for model in models
                if isinstance(model, dict) and isinstance(model.get("id"), str)
            ]
        case _:
            return None


async def is_llama_server(base_url: str, timeout_s: float = PROBE_TIMEOUT_S) -> bool:
    """Return True if a llama-server runs at an address; it reports its own context window."""
    parts = urlsplit(base_url)
    control = ServerClient(base_url)
    try:
        answer = await control.ask(
            ServerAddress(f"{parts.scheme}://{parts.netloc}"), "/props", timeout_s=timeout_s
        )
    except ProviderError:
        return False
    finally:
        await control.aclose()
    return answer.status == 200 and isinstance(answer.body, dict)
