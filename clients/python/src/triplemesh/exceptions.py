"""Errors of calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

DOMAIN = "triplemesh"
DETAILS = "grpc-status-details-bin"
PUSHBACK = "grpc-retry-pushback-ms"
REQUEST_ID = "x-request-id"


@dataclass(frozen=True)
class Violation:
    """A field of a request that breaks a rule."""

    field: str
    description: str


class MeshError(Exception):
    """A call failed.

    code is the gRPC status code, such as "NOT_FOUND"; reason distinguishes errors of one code,
    such as "KG_NOT_FOUND", and is stable, while message is for people. advice says what to do,
    if the mesh or the client knows; message includes the mesh's own. retry_after is the number of
    seconds after which the mesh asks to retry. Its logs have the request_id.
    """

    default_advice = ""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        reason: str = "",
        retry_after: float | None = None,
        request_id: str = "",
        violations: tuple[Violation, ...] = (),
        no_retry: bool = False,
    ) -> None:
        self.code = code
        self.message = message
        self.reason = reason
        self.retry_after = retry_after
        self.request_id = request_id
        self.violations = violations
        self.no_retry = no_retry
        """The mesh retried already."""
        # Errors of a mesh, which have a reason, end with what to do after a semicolon.
        mend = message.rpartition("; ")[2] if reason and "; " in message else ""
        self.advice = mend or self.default_advice
        super().__init__(f"{code}: {message}" + ("" if mend or not self.advice else f"; {self.advice}"))


class InvalidRequestError(MeshError):
    """The request is invalid, or not possible in the current state."""


class NotFoundError(MeshError):
    """The knowledge graph, snapshot, run or entity does not exist."""


class AccessError(MeshError):
    """The caller is not authenticated, or lacks a scope."""

    default_advice = "pass a token with the scope that the call needs"


class ExhaustedError(MeshError):
    """A quota or a budget is exhausted, or the mesh sheds load."""


class UnavailableError(MeshError):
    """The mesh, a stage of it, or its model cannot be reached."""

    default_advice = (
        "check that the mesh runs (triplemesh up), TLS settings, and the address: by default, gRPC has port 9090, "
        "and 9080 is HTTP"
    )


class DeadlineError(MeshError):
    """The timeout of the call passed."""

    default_advice = "pass a longer timeout"


_CLASSES: dict[str, type[MeshError]] = {
    "INVALID_ARGUMENT": InvalidRequestError,
    "FAILED_PRECONDITION": InvalidRequestError,
    "OUT_OF_RANGE": InvalidRequestError,
    "NOT_FOUND": NotFoundError,
    "UNAUTHENTICATED": AccessError,
    "PERMISSION_DENIED": AccessError,
    "RESOURCE_EXHAUSTED": ExhaustedError,
    "UNAVAILABLE": UnavailableError,
    "DEADLINE_EXCEEDED": DeadlineError,
}


def parse_error(error: Any) -> MeshError:
    """Converts a grpc.RpcError of a call, synchronous or not."""
    code = error.code().name
    metadata: dict[str, str | bytes] = {}
    for part in (error.initial_metadata(), error.trailing_metadata()):
        metadata.update({key: value for key, value in part or ()})
    info, retry, bad = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), error_details_pb2.BadRequest()
    retry_after: float | None = None
    for detail in _read_details(metadata.get(DETAILS)):
        detail.Unpack(info)
        detail.Unpack(bad)
        if detail.Unpack(retry):
            retry_after = retry.retry_delay.ToTimedelta().total_seconds()
    pushback = str(metadata.get(PUSHBACK, ""))
    if pushback.isascii() and pushback.isdigit():
        retry_after = int(pushback) / 1000
    return _CLASSES.get(code, MeshError)(
        code,
        error.details() or "no details",
        reason=info.reason if info.domain == DOMAIN else "",
        retry_after=retry_after,
        request_id=str(metadata.get(REQUEST_ID, "")),
        violations=tuple(Violation(v.field, v.description) for v in bad.field_violations),
        no_retry=pushback != "" and not pushback.isdigit(),
    )


def _read_details(data: str | bytes | None) -> list[Any]:
    try:
        return list(status_pb2.Status.FromString(data).details) if isinstance(data, bytes) else []
    except DecodeError:
        return []  # of a proxy between; the code and the message remain
