"""What tool servers are given that should not be seen anywhere."""

from collections.abc import Mapping

from bridle.config.settings import Settings


def daemon_token(settings: Settings) -> dict[str, str]:
    """Return the token of the daemon, if there is one: a model that reads it could approve its own calls."""
    from bridle.config.places import TOKEN_FILE

    try:
        return {"daemon token": (settings.home / TOKEN_FILE).read_text().strip()}
    except (OSError, ValueError):
        return {}


def server_secrets(settings: Settings, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the secrets that servers in use here are given, by the names of variables and headers."""
    from bridle.config.mcp import resolve
    from bridle.core.errors import ConfigError
    from bridle.tools.secrets import find_secrets

    found: dict[str, str] = {}
    for server in settings.servers_found:
        if not server.trusted or not server.settings.enabled:
            continue
        try:
            said = resolve(server, environ, settings.user_folder)
        except ConfigError:  # then nothing is given to it
            continue
        found.update(find_secrets(said.env))
        for name, text in said.headers.items():  # of "Bearer abc" the last word; "X-Team: dev" is none
            for secret in find_secrets({_named(name): text.rpartition(" ")[2]}).values():
                found[name] = secret
        if name := said.oauth.client_secret_env:
            found[name] = environ[name]
    return found


def _named(header: str) -> str:
    """Return a header's name as that of a variable would be."""
    return header.upper().replace("AUTHORIZATION", "AUTH").replace("-", "_")
