"""Channels to a mesh."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path

import grpc

MAX_MESSAGE = 64 << 20
"""Bytes; the limit of the servers."""

Options = list[tuple[str, str | int]]


@dataclass(frozen=True)
class Target:
    """An address and how to connect to it."""

    address: str
    options: Options
    credentials: grpc.ChannelCredentials | None
    metadata: tuple[tuple[str, str], ...]


def is_loopback(address: str) -> bool:
    """Reports whether an address, host:port, is on this machine."""
    host = address.rsplit(":", 1)[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_address(address: str) -> None:
    """Raises ValueError for an address that gRPC would resolve for long, or to another port."""
    scheme = re.match(r"[a-z][a-z0-9-]*:(?!\d+$)", address.lower())
    if scheme and scheme[0] in ("http:", "https:"):
        raise ValueError(f"address {address!r} is a URL; write host and port of gRPC, such as 127.0.0.1:9090")
    if not scheme and not re.search(r":\d+$", address):
        raise ValueError(f"address {address!r} has no port; write {address or '127.0.0.1'}:9090")


def make_target(
    address: str,
    *,
    token: str | None,
    insecure_token: bool,
    tls: bool,
    ca: str | Path | None,
    cert: str | Path | None,
    key: str | Path | None,
    server_name: str | None,
) -> Target:
    """Checks the address and reads the credentials."""
    check_address(address)
    token = token and token.strip()  # of a file, which ends in a newline that no header may hold
    options: Options = [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
    ]
    credentials = None
    if tls or ca or cert or key:
        files = [Path(f).read_bytes() if f else None for f in (ca, key, cert)]
        credentials = grpc.ssl_channel_credentials(*files)
        if server_name:
            options.append(("grpc.ssl_target_name_override", server_name))
    elif token and not (insecure_token or is_loopback(address)):
        raise ValueError(f"token for {address}: the connection is not encrypted; pass tls or ca, or insecure_token")
    return Target(address, options, credentials, (("authorization", f"Bearer {token}"),) if token else ())
