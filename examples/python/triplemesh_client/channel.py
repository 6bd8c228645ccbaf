"""How a mesh is reached."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import grpc

MAX_MESSAGE = 64 << 20
"""Bytes, as the servers have it."""


def is_here(address: str) -> bool:
    """Whether an address, host:port, is this machine."""
    host = address.rsplit(":", 1)[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def open_channel(
    address: str,
    *,
    tls: bool,
    ca: str | Path | None,
    cert: str | Path | None,
    key: str | Path | None,
    server_name: str | None,
) -> grpc.Channel:
    """A channel to address: over TLS where tls is true or a file is named."""
    options: list[tuple[str, str | int]] = [
        ("grpc.max_receive_message_length", MAX_MESSAGE),
        ("grpc.max_send_message_length", MAX_MESSAGE),
    ]
    if not (tls or ca or cert or key):
        return grpc.insecure_channel(address, options)
    if server_name:
        options.append(("grpc.ssl_target_name_override", server_name))
    files = [Path(f).read_bytes() if f else None for f in (ca, key, cert)]
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(*files), options)
