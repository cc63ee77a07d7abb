"""Classify PostgreSQL errors: temporary, so that a retry may help, or permanent."""

import re
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict

from bridle.core.errors import ConfigError, StoreError, StoreFull
from bridle.stores.record_lines import FREE_SPACE

_PASSING = frozenset(
    {
        "25006",  # read-only: this server is a standby now
        "40001",  # serialization failure
        "40P01",  # deadlock
        "53200",  # out of memory
        "53300",  # too many connections
        "55P03",  # a lock was not available
        "57014",  # took longer than the server allows
        "57P01",  # shut down
        "57P02",  # another server process crashed
        "57P03",  # starting up or recovering
        "57P04",  # the database was dropped, and may be restored
        "57P05",  # idle for too long
    }
)

_LASTING: tuple[tuple[str, str, str], ...] = (
    (r"password authentication failed|no password supplied|28P01", "wrong password",
     "check the user and password in the URL"),
    (r"pg_hba\.conf|28000|role .* does not exist|role .* is not permitted", "access denied",
     "check the user in the URL, and pg_hba.conf on the server"),
    (r"invalid \w+ value", "invalid address",
     "it looks like postgresql://user@host:5432/database"),
    (r"database .* does not exist|3D000", "it has no such database", "run createdb, or check the URL"),
    (r"certificate|SSL|server does not support", "no secure connection",
     "check sslmode and sslrootcert in the URL"),
)  # fmt: skip
"""Why a connection is refused permanently, by libpq's message: it does not give the error code."""

_AWAY: tuple[tuple[str, str], ...] = (
    (r"Connection refused|No such file or directory", "connection refused"),
    (r"could not translate host name|Name or service not known|resolve", "host not found"),
    (r"timeout|timed out", "it does not answer"),
    (r"starting up|recovery|not yet accepting", "it is starting up"),
    (r"shutting down|terminating connection|administrator", "it is shutting down"),
    (r"read-only|hot standby", "it is read-only"),
    (r"too many (clients|connections)|remaining connection slots", "it has too many clients"),
)

_SECRETS = frozenset({"password", "passfile", "sslkey", "sslpassword", "sslcert", "service"})


def parse_url(url: str) -> dict[str, Any]:
    """Parse the URL of a database; raises ConfigError, which does not repeat a password."""
    try:
        params = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise _senseless() from _without_text(error)
    if not re.fullmatch(r"[0-9,]*", str(params.get("port", ""))):
        raise _senseless()
    return params


def display_name(params: dict[str, Any]) -> str:
    """Return a display name of the database, without secrets."""
    host = params.get("host") or params.get("hostaddr") or "localhost"
    port = f":{params['port']}" if params.get("port") else ""
    return f"PostgreSQL {host}{port}/{params.get('dbname') or params.get('user') or ''}"


def is_temporary(error: BaseException) -> bool:
    """Return True if the same work may succeed a little later."""
    if isinstance(error, TimeoutError):
        return True
    if not isinstance(error, psycopg.Error):
        return isinstance(error, OSError)
    if error.sqlstate is not None:
        return error.sqlstate in _PASSING or error.sqlstate.startswith("08")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        return _lasting(error) is None
    return False


def describe_outage(error: BaseException) -> str:
    """Return in a few words why the database is unreachable."""
    text = str(error)
    for pattern, words in _AWAY:
        if re.search(pattern, text):
            return words
    if isinstance(error, TimeoutError):
        return "it does not answer"
    return "the connection was lost"


def to_store_error(name: str, error: BaseException, secrets: tuple[str, ...] = ()) -> StoreError:
    """Return a StoreError for an error that a retry does not fix, or that outlasted the retries."""
    if isinstance(error, psycopg.Error) and error.sqlstate == "53100":
        return StoreFull(f"{name}: no space left", hint=FREE_SPACE)
    if isinstance(error, psycopg.Error) and error.sqlstate == "42501":
        return StoreError(
            f"{name}: {first_line(error, secrets)}", hint="grant the user in the URL more rights"
        )
    if isinstance(error, psycopg.OperationalError) and (found := _lasting(error)) is not None:
        return StoreError(f"{name}: {found[0]}", hint=found[1])
    if is_temporary(error):
        return StoreError(
            f"{name}: {describe_outage(error)}", hint="start it, or check the address of the database"
        )
    return StoreError(f"{name}: {first_line(error, secrets)}")


def first_line(error: BaseException, secrets: tuple[str, ...] = ()) -> str:
    """Return the first line of an error's message, at most 300 characters, without secrets."""
    text = (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
    for secret in secrets:
        text = text.replace(secret, "***").replace(quote(secret), "***")
    return text


def find_secrets(params: dict[str, Any]) -> tuple[str, ...]:
    """Return the values in the connection parameters that must not be shown."""
    return tuple(str(params[key]) for key in sorted(_SECRETS & params.keys()) if params[key])


def _lasting(error: psycopg.Error) -> tuple[str, str] | None:
    text = str(error)
    for pattern, words, hint in _LASTING:
        if re.search(pattern, text):
            return words, hint
    return None


def _senseless() -> ConfigError:
    return ConfigError(
        "the address of the database is invalid",
        hint="it looks like postgresql://user@host:5432/database",
    )


def _without_text(error: Exception) -> Exception:
    """Return the error without its message: libpq repeats what it cannot parse, maybe a password."""
    return type(error)("not shown")
