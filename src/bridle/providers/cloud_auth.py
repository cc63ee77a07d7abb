"""Signs requests to models that a cloud serves: AWS (Bedrock) and Google Cloud (Vertex AI).

Credentials come from where the clouds' own programs put them, and are read again before each request:

```
aws      AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, else ~/.aws/credentials
google   GOOGLE_APPLICATION_CREDENTIALS, else what `gcloud auth application-default login` wrote
```
"""

import base64
import configparser
import hashlib
import hmac
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import aiohttp
import msgspec
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding
from msgspec import Struct

from bridle.core.errors import ProviderError
from bridle.core.malformed import MALFORMED
from bridle.providers.llama.server_client import is_loopback

GOOGLE_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token"
GOOGLE_FILE = ".config/gcloud/application_default_credentials.json"
TOKEN_S = 3600
EARLY_S = 120  # a token that expires this soon is replaced
TIMEOUT_S = 30.0
MAX_FILE_BYTES = 64 * 1024
MAX_ANSWER_BYTES = 64 * 1024
_AWS_HINT = "export AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or aws configure export-credentials"
_GOOGLE_HINT = "gcloud auth application-default login, or set GOOGLE_APPLICATION_CREDENTIALS"


def _missing(who: str, problem: str, hint: str) -> ProviderError:
    return ProviderError(f"{who}: {problem}", kind="invalid_api_key", hint=hint)


def _read(path: Path) -> str:
    with path.open(encoding="utf-8") as file:
        return file.read(MAX_FILE_BYTES)


# ---------------------------------------------------------------------------- AWS


class AwsKey(Struct, frozen=True):
    """The credentials of an AWS account."""

    id: str
    secret: str
    token: str = ""


class AwsSigner:
    """Signs requests with AWS Signature Version 4."""

    def __init__(
        self,
        who: str,
        region: str,
        environ: Mapping[str, str] = os.environ,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._who = who
        self._region = region
        self._environ = environ
        self._now_s = now_s
        self._last: AwsKey | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secret and the token of the last signature."""
        return () if self._last is None else tuple(filter(None, (self._last.secret, self._last.token)))

    async def __call__(self, url: str, body: bytes) -> dict[str, str]:
        """Return the headers that sign a request; raises ProviderError without credentials."""
        self._last = self._key()
        return aws_headers(self._last, url, body, self._region, time.gmtime(self._now_s()))

    def _key(self) -> AwsKey:
        names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        key = AwsKey(*[self._environ.get(name, "").strip() for name in names])
        if key.id and key.secret:
            return key
        file = self._environ.get("AWS_SHARED_CREDENTIALS_FILE", "")
        path = Path(file or "~/.aws/credentials").expanduser()
        profile = self._environ.get("AWS_PROFILE", "") or "default"
        try:
            parser = configparser.ConfigParser(interpolation=None)
            parser.read_string(_read(path))
            kept = parser[profile]
            key = AwsKey(*[kept.get(name.lower(), "") for name in names])
        except (OSError, ValueError, KeyError, configparser.Error):
            raise _missing(self._who, "no AWS credentials", _AWS_HINT) from None
        if not key.id or not key.secret:
            raise _missing(self._who, f"no AWS key in the profile {profile} of {path}", _AWS_HINT)
        return key


def aws_headers(
    key: AwsKey, url: str, body: bytes, region: str, now: time.struct_time, service: str = "bedrock"
) -> dict[str, str]:
    """Return the headers of a POST request that is signed with a key."""
    address = urlsplit(url)
    stamp, digest = time.strftime("%Y%m%dT%H%M%SZ", now), hashlib.sha256(body).hexdigest()
    signed = {"host": address.netloc, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    if key.token:
        signed["x-amz-security-token"] = key.token
    names = ";".join(sorted(signed))
    lines = [f"{name}:{signed[name]}" for name in sorted(signed)]
    path = quote(address.path or "/", safe="/~")  # the path is encoded once more than in the request
    request = "\n".join(["POST", path, address.query, *lines, "", names, digest])
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    hashed = hashlib.sha256(request.encode()).hexdigest()
    made = f"AWS4{key.secret}".encode()
    for word in scope.split("/"):
        made = hmac.digest(made, word.encode(), "sha256")
    signature = hmac.new(made, f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashed}".encode(), "sha256").hexdigest()
    credential = f"AWS4-HMAC-SHA256 Credential={key.id}/{scope}"
    del signed["host"]  # the client sends it
    return {**signed, "Authorization": f"{credential}, SignedHeaders={names}, Signature={signature}"}


# ---------------------------------------------------------------------------- Google


class GoogleSigner:
    """Sends the access token of a service account, or of a person who logged in with gcloud."""

    def __init__(
        self,
        who: str,
        environ: Mapping[str, str] = os.environ,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._who = who
        self._environ = environ
        self._now_s = now_s
        self._tokens: dict[str, tuple[str, float]] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The access token."""
        return tuple(token for token, _ in self._tokens.values())

    async def __call__(self, url: str, body: bytes) -> dict[str, str]:
        """Return the header with a valid token; raises ProviderError."""
        path = self._file()
        try:
            text = _read(path)
            token, until = self._tokens.get(text, ("", 0.0))
            if until < self._now_s() + EARLY_S:
                address, form = _token_request(msgspec.json.decode(text), int(self._now_s()))
                token, lasts_s = await self._ask(address, form)
                self._tokens = {text: (token, self._now_s() + lasts_s)}
        except OSError as error:
            problem = f"{path} cannot be read: {error.strerror}"
            raise _missing(self._who, problem, _GOOGLE_HINT) from None
        except (*MALFORMED, ValueError, KeyError, TypeError, AttributeError):
            raise _missing(self._who, f"{path} has no credentials that can be used", _GOOGLE_HINT) from None
        return {"Authorization": f"Bearer {token}"}

    def _file(self) -> Path:
        return Path(self._environ.get("GOOGLE_APPLICATION_CREDENTIALS") or f"~/{GOOGLE_FILE}").expanduser()

    async def _ask(self, address: str, form: dict[str, str]) -> tuple[str, float]:
        if not address.startswith("https://") and not is_loopback(address):
            raise _missing(self._who, "the address for tokens is not https", _GOOGLE_HINT)
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.post(address, data=form, allow_redirects=False) as response,
            ):
                status, data = response.status, await response.content.read(MAX_ANSWER_BYTES)
        except (aiohttp.ClientError, TimeoutError) as error:
            problem = f"{self._who}: no access token: {type(error).__name__}"
            raise ProviderError(problem, kind="connection_reset") from None
        if status != 200:
            raise _missing(self._who, f"Google refuses the credentials (HTTP {status})", _GOOGLE_HINT)
        answer = msgspec.json.decode(data)
        return str(answer["access_token"]), float(answer.get("expires_in", TOKEN_S))


def _token_request(credentials: dict[str, Any], now_s: int) -> tuple[str, dict[str, str]]:
    """Return the address and the form that exchange credentials for an access token."""
    address = str(credentials.get("token_uri") or GOOGLE_TOKEN_URL)
    if credentials["type"] == "authorized_user":
        names = ("client_id", "client_secret", "refresh_token")
        return address, {"grant_type": "refresh_token", **{name: str(credentials[name]) for name in names}}
    claims = {
        "iss": credentials["client_email"],
        "scope": GOOGLE_SCOPE,
        "aud": address,
        "iat": now_s,
        "exp": now_s + TOKEN_S,
    }
    head = {"alg": "RS256", "typ": "JWT", "kid": credentials.get("private_key_id", "")}
    unsigned = b".".join(_base64url(msgspec.json.encode(part)) for part in (head, claims))
    key: Any = serialization.load_pem_private_key(credentials["private_key"].encode(), None)
    signature = key.sign(unsigned, padding.PKCS1v15(), hashes.SHA256())
    assertion = (unsigned + b"." + _base64url(signature)).decode()
    return address, {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}


def _base64url(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
