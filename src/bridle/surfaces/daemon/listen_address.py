"""Checks where a listener may bind: on this machine, or anywhere if it has TLS and requires a token."""

import ipaddress

from bridle.config.keys import ConfigFile
from bridle.core.errors import ConfigError
from bridle.system.tls_files import NO_TLS, TlsFiles

MAX_PORT = 65535
THIS_MACHINE = "127.0.0.1"


def parse_listen_address(
    address: str, key: str, *, tls: TlsFiles = NO_TLS, has_token: bool = True
) -> tuple[str, int]:
    """Split an address; raises ConfigError if other machines can connect and it is not protected."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or THIS_MACHINE
    name = THIS_MACHINE if host == "localhost" else host
    try:
        number = int(port)
    except ValueError:
        number = -1
    if not 0 <= number <= MAX_PORT:
        raise ConfigError(f"{key}: {port} is not a port")
    if tls.client_ca and not tls.cert:
        raise ConfigError(f"{tls.where}: client_ca needs a certificate", hint="set cert, too")
    if _is_loopback(name) or (tls and has_token):
        return name, number
    missing = "TLS" if has_token else "a token"
    raise ConfigError(
        f'{key}: "{address}" can be reached from other machines, but is not protected by {missing}',
        hint=f'use "{THIS_MACHINE}:{port}", or set cert and key in [{tls.where}] and leave the token on',
    )


def check_listener(config: ConfigFile, table: str) -> None:
    """Check the listener address in a settings table; raises ConfigError if the daemon would refuse it."""
    serve, http, grpc, scale = config.serve, config.http, config.grpc, config.scale
    listeners = {
        "serve": ("tcp", serve.tcp, serve.tls, True),
        "http": ("bind", http.bind, http.tls, http.token),
        "grpc": ("bind", grpc.bind, grpc.tls, grpc.token),
        "scale": ("listen", scale.listen, scale.tls, True),
    }
    if table not in listeners:
        return
    key, address, tls, has_token = listeners[table]
    if address:
        parse_listen_address(address, f"{table}.{key}", tls=tls.files(f"{table}.tls"), has_token=has_token)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
