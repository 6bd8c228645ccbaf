"""What goes wrong when a mesh is asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import grpc


class MeshError(Exception):
    """A call that a mesh did not answer.

    code is the gRPC status: NOT_FOUND, INVALID_ARGUMENT, UNAVAILABLE, …
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@contextmanager
def mesh_errors() -> Iterator[None]:
    """Turns the errors of gRPC into MeshError."""
    try:
        yield
    except grpc.RpcError as error:
        raise MeshError(error.code().name, error.details() or "") from error
