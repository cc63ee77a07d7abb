"""Claude at clouds: a server that checks signatures accepts the requests, and the replies are read."""

import base64
import hashlib
import hmac
import json
import re
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest
from aiohttp import web
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from bridle.core.errors import ConfigError, ProviderError
from bridle.core.model import ApiKind, ModelRequest
from bridle.providers.cloud_auth import AwsKey, AwsSigner, GoogleSigner, aws_headers
from bridle.providers.factory import open_remote
from bridle.providers.provider_settings import ProviderEntry
from bridle.providers.sse import AwsEventParser, SseError
from tests.providers.conversation import ask, request

MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
EVENTS: list[dict[str, object]] = [
    {"type": "message_start", "message": {"model": "claude", "usage": {"input_tokens": 3}}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}},
    {"type": "message_stop"},
]


def aws_message(payload: dict[str, object], **headers: str) -> bytes:
    """Write one binary message."""
    coded = b"".join(
        bytes([len(name) + 1]) + f":{name}".replace("_", "-").encode() + b"\x07"
        + len(value).to_bytes(2, "big") + value.encode()
        for name, value in headers.items()
    )  # fmt: skip
    body = json.dumps(payload).encode()
    head = (16 + len(coded) + len(body)).to_bytes(4, "big") + len(coded).to_bytes(4, "big")
    whole = head + zlib.crc32(head).to_bytes(4, "big") + coded + body
    return whole + zlib.crc32(whole).to_bytes(4, "big")


def aws_stream(*events: dict[str, object]) -> bytes:
    """Write the stream of a reply."""
    coded = [base64.b64encode(json.dumps(event).encode()).decode() for event in events]
    return b"".join(
        aws_message({"bytes": one, "p": "abc"}, message_type="event", event_type="chunk") for one in coded
    )


def is_signed(http: web.Request, body: bytes, secret: str) -> bool:
    """Check a signature as AWS does, from the request alone."""
    found = re.fullmatch(
        r"AWS4-HMAC-SHA256 Credential=(\w+)/(\d{8})/([\w-]+)/bedrock/aws4_request, "
        r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})",
        http.headers.get("Authorization", ""),
    )
    if found is None or http.headers["x-amz-content-sha256"] != hashlib.sha256(body).hexdigest():
        return False
    _, day, region, names, signature = found.groups()
    lines = "".join(f"{name}:{http.headers[name].strip()}\n" for name in names.split(";"))
    whole = f"POST\n{quote(http.raw_path, safe='/~')}\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    key = b"AWS4" + secret.encode()
    for word in (day, region, "bedrock", "aws4_request"):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    hashed = hashlib.sha256(whole.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{http.headers['x-amz-date']}\n{day}/{region}/bedrock/aws4_request\n{hashed}"
    return hmac.compare_digest(hmac.new(key, text.encode(), hashlib.sha256).hexdigest(), signature)


class Cloud:
    """A server that answers signed requests only."""

    def __init__(self, answer: bytes = b"", events: bytes = b"") -> None:
        self.url = ""
        self.bodies: list[dict[str, object]] = []
        self.paths: list[str] = []
        self.tokens = 0
        self.answer = answer or aws_stream(*EVENTS)
        self.events = events or b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in EVENTS)
        self.key = rsa.generate_private_key(65537, 2048)

    async def bedrock(self, http: web.Request) -> web.Response:
        body = await http.read()
        self.paths.append(http.raw_path)
        if not is_signed(http, body, SECRET):
            return web.json_response({"message": "the signature does not match"}, status=403)
        self.bodies.append(msgspec.json.decode(body))
        return web.Response(body=self.answer, content_type="application/vnd.amazon.eventstream")

    async def token(self, http: web.Request) -> web.Response:
        form = await http.post()
        self.tokens += 1
        if "refresh_token" in form:
            is_valid = form["refresh_token"] == "r"
        else:
            head, claims, signature = str(form["assertion"]).split(".")
            seal = base64.urlsafe_b64decode(signature + "==")
            self.key.public_key().verify(
                seal, f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
            is_valid = json.loads(base64.urlsafe_b64decode(claims + "=="))["iss"] == "me@project"
        if not is_valid:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return web.json_response({"access_token": f"token-{self.tokens}", "expires_in": 3600})

    async def vertex(self, http: web.Request) -> web.Response:
        self.paths.append(http.raw_path)
        if http.headers.get("Authorization") != "Bearer token-1":
            return web.json_response({"error": {"message": http.headers["Authorization"]}}, status=401)
        self.bodies.append(await http.json())
        return web.Response(body=self.events, content_type="text/event-stream")

    def service_account(self) -> dict[str, str]:
        """Return the file of a service account."""
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "client_email": "me@project",
            "private_key": pem.decode(),
            "token_uri": f"{self.url}/token",
        }


@asynccontextmanager
async def cloud(answer: bytes = b"", events: bytes = b"") -> AsyncIterator[Cloud]:
    made = Cloud(answer, events)
    app = web.Application()
    app.router.add_post("/token", made.token)
    app.router.add_post("/model/{rest:.*}", made.bedrock)
    app.router.add_post("/v1/models/{rest:.*}", made.vertex)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield made
    finally:
        await runner.cleanup()


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_SESSION_TOKEN", "session")


def bedrock(url: str, **fields: str) -> ProviderEntry:
    return ProviderEntry(kind="anthropic", base_url=url, auth="aws", region="us-east-1", **fields)  # type: ignore[arg-type]


def asked() -> ModelRequest:
    return msgspec.structs.replace(request(), model=MODEL)


@pytest.mark.usefixtures("aws")
async def test_claude_answers_at_bedrock():
    async with cloud() as server:
        provider = open_remote("bedrock", "anthropic", bedrock(server.url), "")
        outcome = await ask(provider, asked())
        await provider.aclose()

    assert outcome.shown == [("text", "hello")]
    assert server.paths == [f"/model/{MODEL}/invoke-with-response-stream"]
    [body] = server.bodies
    assert body["anthropic_version"] == "bedrock-2023-05-31"
    assert body.keys().isdisjoint({"model", "stream"})


@pytest.mark.usefixtures("aws")
async def test_a_wrong_secret_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    async with cloud() as server:
        provider = open_remote("bedrock", "anthropic", bedrock(server.url), "")
        outcome = await ask(provider, asked())
        await provider.aclose()

    assert outcome.error == "invalid_api_key"


SLOW_DOWN = aws_message(
    {"message": "slow down"}, message_type="exception", exception_type="throttlingException"
)


@pytest.mark.usefixtures("aws")
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (aws_stream(*EVENTS[:3]) + SLOW_DOWN, "rate_limited"),
        (aws_stream(*EVENTS[:3]), "connection_reset"),
        (aws_stream(*EVENTS)[:-1] + b"x", "server_error"),
        (b"\0\0\0\x20" + b"x" * 40, "server_error"),
        (aws_message({"bytes": 3}, message_type="event"), "server_error"),
    ],
)  # fmt: skip
async def test_a_broken_stream_of_bedrock_is_a_failure(answer: bytes, error: str):
    async with cloud(answer) as server:
        provider = open_remote("bedrock", "anthropic", bedrock(server.url), "")
        outcome = await ask(provider, asked())
        await provider.aclose()

    assert outcome.error == error


def token_said(token: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": "api_error", "message": f"no such token: {token}"}}


@pytest.mark.usefixtures("aws")
async def test_no_error_in_a_stream_shows_the_token_of_a_cloud(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "google.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    monkeypatch.setenv("AWS_SESSION_TOKEN", "token-1")
    events = b"data: %b\n\n" % json.dumps(token_said("token-1")).encode()
    said = []
    async with cloud(aws_stream(token_said("token-1")), events=events) as server:
        file.write_text(json.dumps(server.service_account()))
        google = ProviderEntry(kind="anthropic", base_url=f"{server.url}/v1/models", auth="google")
        for entry in (bedrock(server.url), google):
            provider = open_remote("far", "anthropic", entry, "")
            with pytest.raises(ProviderError) as raised:
                async for _ in provider.stream(asked()):
                    pass
            said.append(raised.value.message)
            await provider.aclose()

    assert said == ["far: no such token: *** (mid-stream, server_error)"] * 2


async def test_keys_of_aws_come_from_a_profile(tmp_path: Path):
    file = tmp_path / "credentials"
    environ = {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "work"}
    signer = AwsSigner("bedrock", "us-east-1", environ, now_s=lambda: 0.0)
    for text in ("", "[work]\naws_access_key_id = A\n", "nonsense"):
        file.write_text(text)
        with pytest.raises(ProviderError, match="no AWS"):
            await signer("https://h/a", b"")
    file.write_text("[work]\naws_access_key_id = A\naws_secret_access_key = B%\n")

    headers = await signer("https://h/a", b"")
    assert headers["x-amz-date"] == "19700101T000000Z"
    assert "Credential=A/19700101/us-east-1/bedrock/aws4_request" in headers["Authorization"]
    assert "x-amz-security-token" not in headers


def test_the_region_is_needed():
    entry = ProviderEntry(kind="anthropic", base_url="https://h", auth="aws")
    with pytest.raises(ConfigError, match="needs a region"):
        open_remote("bedrock", "anthropic", entry, "")


async def test_claude_answers_at_vertex_to_a_service_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "google.json"
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    async with cloud() as server:
        file.write_text(json.dumps(server.service_account()))
        entry = ProviderEntry(kind="anthropic", base_url=f"{server.url}/v1/models", auth="google")
        provider = open_remote("vertex", "anthropic", entry, "")
        asked_twice = [
            await ask(provider, msgspec.structs.replace(request(), model="claude@20250929")) for _ in range(2)
        ]
        await provider.aclose()

    assert [outcome.shown for outcome in asked_twice] == [[("text", "hello")]] * 2
    assert server.tokens == 1
    assert server.paths == ["/v1/models/claude@20250929:streamRawPredict"] * 2
    assert server.bodies[0]["anthropic_version"] == "vertex-2023-10-16"
    assert (server.bodies[0]["stream"], "model" in server.bodies[0]) == (True, False)


async def test_google_tokens_are_renewed_and_a_person_has_one_too(tmp_path: Path):
    file, now_s = tmp_path / "google.json", [1_000.0]
    signer = GoogleSigner("vertex", {"GOOGLE_APPLICATION_CREDENTIALS": str(file)}, lambda: now_s[0])
    async with cloud() as server:
        person = {"type": "authorized_user", "client_id": "c", "client_secret": "s", "refresh_token": "r"}
        file.write_text(json.dumps({**person, "token_uri": f"{server.url}/token"}))
        found = []
        for later_s in (0, 3_400, 100):
            now_s[0] += later_s
            found.append((await signer("u", b""))["Authorization"])
        file.write_text(json.dumps({**person, "refresh_token": "x", "token_uri": f"{server.url}/token"}))
        with pytest.raises(ProviderError, match="refuses the credentials \\(HTTP 400\\)"):
            await signer("u", b"")

    assert found == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


FAR = {
    "type": "authorized_user",
    "client_id": "c",
    "client_secret": "s",
    "refresh_token": "r",
    "token_uri": "http://example.com",
}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no credentials that can be used"),
        ("[]", "has no credentials that can be used"),
        ('{"type": "service_account"}', "has no credentials that can be used"),
        (
            '{"type": "service_account", "client_email": "a", "private_key": "x"}',
            "has no credentials that can be used",
        ),
        (json.dumps(FAR), "is not https"),
    ],
)
async def test_credentials_that_cannot_be_used_are_named(tmp_path: Path, text: str, problem: str):
    file = tmp_path / "google.json"
    signer = GoogleSigner("vertex", {"GOOGLE_APPLICATION_CREDENTIALS": str(file)})
    with pytest.raises(ProviderError, match="cannot be read: No such file"):
        await signer("u", b"")
    file.write_text(text)
    with pytest.raises(ProviderError, match=problem):
        await signer("u", b"")


@pytest.mark.parametrize("kind", ["openai", "openai-responses"])
async def test_azure_gets_the_key_in_its_own_header(kind: ApiKind):
    seen: list[web.Request] = []

    async def answer(http: web.Request) -> web.Response:
        seen.append(http)
        return web.json_response({"error": {"message": "no"}}, status=401)

    app = web.Application()
    app.router.add_post("/{rest:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/openai/v1"
    provider = open_remote("azure", kind, ProviderEntry(kind=kind, base_url=url, auth="azure"), "sk-1")
    await ask(provider)
    await provider.aclose()
    await runner.cleanup()

    assert (seen[0].headers["api-key"], "Authorization" in seen[0].headers) == ("sk-1", False)


def test_the_signature_is_the_one_that_botocore_makes():
    url = f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{MODEL}/invoke-with-response-stream"
    now = time.strptime("2027-01-31 12:00:00", "%Y-%m-%d %H:%M:%S")
    ends = "b5c3cc8d9183cbe422c0bdd2195e303f4983f5f1cc31ccd22ebfd5b8be245801"

    headers = aws_headers(AwsKey("AKIDEXAMPLE", SECRET), url, b'{"a":1}', "us-east-1", now)
    assert headers["Authorization"].endswith(f"Signature={ends}")


def test_the_messages_of_bedrock_are_read_at_every_split():
    stream = aws_stream(*EVENTS)
    for size in (1, 7, 12, 100, len(stream)):
        parser = AwsEventParser()
        events = [
            json.loads(event.data)
            for at in range(0, len(stream), size)
            for event in parser.feed(stream[at : at + size])
        ]
        assert events == EVENTS
    with pytest.raises(SseError, match="larger than 100 bytes"):
        AwsEventParser(100).feed(stream)
