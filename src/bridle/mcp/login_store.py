"""The store of logins: one file that only its owner can read, shared by all processes of a home.

```
<home>/mcp/logins.json    {"logins": {"<address> <client id>": {tokens, expiry, registration, endpoints}}}
```

Its content is never logged or shown. Every method blocks; raises ToolError.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag

import msgspec
from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.mcp.settings import ServerSettings
from bridle.system.files import PRIVATE_FOLDER, lock_file, write_atomically

MAX_FILE_BYTES = 4 * 1024 * 1024
_HINT = "log in again with bridle mcp login"


class Login(Struct, frozen=True, omit_defaults=True):
    """The data from a server and its authorization server, unchanged."""

    tokens: dict[str, Any]
    expires_at: float | None = None
    """Seconds since 1970."""
    client: dict[str, Any] = {}
    """Our client registration."""
    endpoints: dict[str, Any] = {}
    """The authorization server's metadata: where to refresh a token."""
    resource: dict[str, Any] = {}
    """The server's own metadata."""


class _File(Struct, frozen=True):
    logins: dict[str, Login] = {}


class LoginStore:
    """The logins of a home, by the server's address and client id."""

    def __init__(self, home: Path) -> None:
        self._path = home / "mcp" / "logins.json"

    def get(self, settings: ServerSettings) -> Login | None:
        """Return the login to a server, if there is one."""
        return self._read().get(_key(settings))

    def put(self, settings: ServerSettings, login: Login) -> None:
        """Save a login; it replaces an earlier one."""
        with self._changing() as logins:
            logins[_key(settings)] = login

    def remove(self, settings: ServerSettings) -> bool:
        """Delete a login; False if there is none."""
        if self.get(settings) is None:
            return False
        with self._changing() as logins:
            return logins.pop(_key(settings), None) is not None

    def _read(self) -> dict[str, Login]:
        try:
            with open(self._path, "rb") as file:
                data = file.read(MAX_FILE_BYTES + 1)
            return dict(msgspec.json.decode(data, type=_File).logins)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise ToolError(f"cannot read {self._path}: {error.strerror}") from error
        except MALFORMED:  # the error text would show the content
            raise ToolError(f"{self._path} is damaged", hint=f"remove it and {_HINT}") from None

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Login]]:
        """Yield the logins to change them, under a lock against other processes."""
        try:
            with lock_file(self._path):
                os.chmod(self._path.parent, PRIVATE_FOLDER)
                logins = self._read()
                yield logins
                write_atomically(self._path, msgspec.json.format(msgspec.json.encode(_File(logins))) + b"\n")
        except OSError as error:
            raise ToolError(f"cannot save the login in {self._path}: {error.strerror}") from error


def _key(settings: ServerSettings) -> str:
    return f"{urldefrag(settings.url).url} {settings.oauth.client_id}".rstrip()
