"""Secrets to mask in output: the daemon's token, and the variables and headers of MCP servers."""

from collections.abc import Mapping

from bridle.config.settings import Settings


def daemon_token(settings: Settings) -> dict[str, str]:
    """Return the daemon's token, if there is one: a model that read it could approve its own calls."""
    from bridle.config.file_names import TOKEN_FILE

    try:
        return {"daemon token": (settings.home / TOKEN_FILE).read_text().strip()}
    except (OSError, ValueError):
        return {}


def server_secrets(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets of the enabled, trusted MCP servers, by variable or header name."""
    from bridle.config.mcp import resolve
    from bridle.core.errors import ConfigError
    from bridle.tools.secrets import find_secrets

    found: dict[str, str] = {}
    for server in settings.servers_found:
        if not server.trusted or not server.settings.enabled:
            continue
        try:
            said = resolve(server, environ, settings.user_folder)
        except ConfigError:  # such a server never starts and gets no secrets
            continue
        found.update(find_secrets(said.env))
        for name, text in said.headers.items():  # "Bearer abc": the last word; "X-Team: dev": no secret
            for secret in find_secrets({_named(name): text.rpartition(" ")[2]}).values():
                found[name] = secret
        if name := said.oauth.client_secret_env:
            found[name] = environ[name]
    return found


def _named(header: str) -> str:
    """Convert a header name to the form of a variable name, for `find_secrets`."""
    return header.upper().replace("AUTHORIZATION", "AUTH").replace("-", "_")
