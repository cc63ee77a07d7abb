"""TLS from files: real connections, and errors about unusable files."""

import asyncio
import os
import ssl
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bridle.core.errors import ConfigError
from bridle.system.tls import client_context, server_context
from bridle.system.tls_files import NO_TLS, TlsFiles
from tests.certificates import Authority


@asynccontextmanager
async def listening(context: ssl.SSLContext):
    """Serve greetings; gives the port."""

    async def greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"hello\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def greeting(port: int, context: ssl.SSLContext) -> tuple[bytes, str, str]:
    """Connect; return the answer, the TLS version, and the owner of the server's certificate."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    try:
        said = await reader.read(6)
        shown = writer.get_extra_info("peercert")
        return said, writer.get_extra_info("ssl_object").version(), shown["subject"][0][0][1]
    finally:
        writer.close()


async def is_served(port: int, context: ssl.SSLContext) -> bool:
    """Return whether a client can connect; with TLS 1.3, only its first answer shows a refusal."""
    try:
        return (await greeting(port, context))[0] == b"hello\n"
    except (ssl.SSLError, ConnectionError):
        return False


async def test_a_client_that_trusts_the_authority_is_served(tmp_path: Path):
    authority = Authority(tmp_path)
    async with listening(server_context(authority.sign("server"))) as port:
        assert await greeting(port, client_context(str(authority.path))) == (b"hello\n", "TLSv1.3", "server")

        with pytest.raises(ssl.SSLCertVerificationError):
            await greeting(port, client_context())


def test_old_versions_are_refused(tmp_path: Path):
    files = Authority(tmp_path).sign("server")

    for context in (server_context(files), client_context(), client_context(files=files)):
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2


async def test_with_an_authority_for_clients_each_must_show_a_certificate(tmp_path: Path):
    authority, stranger = Authority(tmp_path), Authority(tmp_path, "other")
    server = authority.sign("server", mtls=True)
    async with listening(server_context(server)) as port:
        known = client_context(str(authority.path), authority.sign("client"))
        assert (await greeting(port, known))[0] == b"hello\n"

        for context in (
            client_context(str(authority.path)),
            client_context(str(authority.path), stranger.sign("foreign")),
        ):
            assert not await is_served(port, context)


async def test_a_name_counts_unless_the_authority_signs_nobody_else(tmp_path: Path):
    authority = Authority(tmp_path)
    context = client_context(str(authority.path), any_name=True)

    assert (context.check_hostname, context.verify_mode) == (False, ssl.CERT_REQUIRED)
    assert client_context(any_name=True).check_hostname


async def test_new_files_are_shown_to_new_clients(tmp_path: Path, caplog):
    authority = Authority(tmp_path)
    files, newer = authority.sign("server"), authority.sign("newer")
    context = client_context(str(authority.path))
    async with listening(server_context(files, look_s=0.0)) as port:
        assert (await greeting(port, context))[2] == "server"

        os.replace(newer.key, files.key)
        assert (await greeting(port, context))[2] == "server"  # a pair that does not fit is left alone
        os.replace(newer.cert, files.cert)
        assert (await greeting(port, context))[2] == "newer"
    assert "still using the old certificate" in caplog.text


def _without_key(files: TlsFiles, folder: Path) -> TlsFiles:
    return files._replace(key="")


def _open_key(files: TlsFiles, folder: Path) -> TlsFiles:
    Path(files.key).chmod(0o640)
    return files


def _other_key(files: TlsFiles, folder: Path) -> TlsFiles:
    return files._replace(key=Authority(folder, "other").sign("stranger").key)


def _locked_key(files: TlsFiles, folder: Path) -> TlsFiles:
    return Authority(folder, "other").sign("locked", password=b"secret word")


def _no_certificate(files: TlsFiles, folder: Path) -> TlsFiles:
    Path(files.cert).write_text("hello")
    return files


def _damaged(files: TlsFiles, folder: Path) -> TlsFiles:
    Path(files.cert).write_text("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")
    return files


def _pipe(files: TlsFiles, folder: Path) -> TlsFiles:
    os.mkfifo(folder / "pipe")
    return files._replace(cert=str(folder / "pipe"))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (_without_key, r"^http\.tls: the certificate has no key"),
        (
            lambda files, _: files._replace(cert="/nowhere/a.pem"),
            r'^http\.tls\.cert: "/nowhere/a\.pem" cannot be',
        ),
        (
            lambda files, _: files._replace(key="/nowhere/a.key"),
            r'^http\.tls\.key: "/nowhere/a\.key" cannot be',
        ),
        (
            lambda files, _: files._replace(client_ca="/nowhere/b"),
            r'^http\.tls\.client_ca: "/nowhere/b" cannot be',
        ),
        (_open_key, r"^http\.tls\.key: other users can read the file .*\(hint: chmod 600 "),
        (_other_key, r'^http\.tls\.key: ".*stranger\.key" does not belong to the certificate'),
        (_locked_key, r'^http\.tls\.key: ".*locked\.key" has a password'),
        (_no_certificate, r'^http\.tls\.cert: ".*server\.pem" contains no certificate'),
        (_damaged, r'^http\.tls\.cert: the certificate in ".*server\.pem" is damaged'),
        (_pipe, r'^http\.tls\.cert: ".*pipe" is not a file'),
        (lambda _, folder: Authority(folder).sign("s", ends=-2), r'in ".*s\.pem" expired on 2\d{3}-'),
        (
            lambda _, folder: Authority(folder).sign("s", begins=2),
            r'in ".*s\.pem" is not valid before 2\d{3}-',
        ),
    ],
)
def test_files_that_are_of_no_use_are_named(
    tmp_path: Path, spoil: Callable[[TlsFiles, Path], TlsFiles], words: str
):
    files = Authority(tmp_path).sign("server")

    with pytest.raises(ConfigError, match=words) as caught:
        server_context(spoil(files, tmp_path)._replace(where="http.tls"))
    assert "secret word" not in str(caught.value)


def test_the_clock_decides_what_has_expired(tmp_path: Path):
    files = Authority(tmp_path).sign("server", ends=3)

    server_context(files, lambda: time.time() + 2 * 86_400)
    with pytest.raises(ConfigError, match="expired on"):
        server_context(files, lambda: time.time() + 4 * 86_400)


def test_without_a_certificate_there_is_no_tls():
    assert not NO_TLS
    assert TlsFiles(cert="a")
