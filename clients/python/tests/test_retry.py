"""Retries, against a server that fails as told."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures
from typing import Any

import grpc
import pytest
from google.protobuf import any_pb2, duration_pb2
from google.rpc import error_details_pb2, status_pb2

from triplemesh import AsyncClient, Client, ExhaustedError, Retry, Run, UnavailableError
from triplemesh.exceptions import MeshError
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.orchestrator.v1.orchestrator_pb2_grpc import (
    OrchestratorServiceServicer,
    add_OrchestratorServiceServicer_to_server,
)
from triplemesh.retriever.v1 import knowledge_graph_pb2
from triplemesh.retriever.v1.knowledge_graph_pb2_grpc import (
    KnowledgeGraphServiceServicer,
    add_KnowledgeGraphServiceServicer_to_server,
)

FAST = Retry(attempts=4, initial=0.001)


def fail(
    context: grpc.ServicerContext, code: grpc.StatusCode, retry_after: float | None = None, pushback: str = ""
) -> None:
    """Ends a call with an error as the servers of a mesh make it."""
    details = [any_pb2.Any(), any_pb2.Any()]
    details[0].Pack(error_details_pb2.ErrorInfo(domain="triplemesh", reason="TOO_MANY_REQUESTS"))
    if retry_after is not None:
        delay = duration_pb2.Duration(nanos=int(retry_after % 1 * 1e9), seconds=int(retry_after))
        details[1].Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    given = details if retry_after is not None else details[:1]
    status = status_pb2.Status(code=code.value[0], message="too busy; ask later", details=given)
    trailer: list[tuple[str, str | bytes]] = [("grpc-status-details-bin", status.SerializeToString())]
    if pushback:
        trailer.append(("grpc-retry-pushback-ms", pushback))
    context.set_trailing_metadata(tuple(trailer))
    context.abort(code, "too busy; ask later")


class Server(OrchestratorServiceServicer, KnowledgeGraphServiceServicer):
    """Fails calls by a list of arguments of fail, and then answers."""

    def __init__(self) -> None:
        self.failures: list[tuple[Any, ...]] = []
        self.calls = 0
        self.received: list[str] = []

    def attempt(self, context: grpc.ServicerContext) -> None:
        self.calls += 1
        if self.failures:
            fail(context, *self.failures.pop(0))

    def Ask(self, request: pb.AskRequest, context: grpc.ServicerContext) -> pb.AskResponse:
        self.attempt(context)
        return pb.AskResponse(run=pb.Run(text="answered"))

    def AskStream(
        self, request: pb.AskStreamRequest, context: grpc.ServicerContext
    ) -> Iterator[pb.AskStreamResponse]:
        if request.request.question != "fail late":
            self.attempt(context)
        yield pb.AskStreamResponse(answer_delta="an")
        if request.request.question == "fail late":
            self.attempt(context)
        yield pb.AskStreamResponse(run=pb.Run(text="answered"))

    def RollbackKnowledgeGraph(self, request: Any, context: grpc.ServicerContext) -> Any:
        self.attempt(context)
        return knowledge_graph_pb2.RollbackKnowledgeGraphResponse()

    def LoadKnowledgeGraphStream(self, requests: Iterator[Any], context: grpc.ServicerContext) -> Iterator[Any]:
        self.received = [request.request.WhichOneof("part") for request in requests]
        self.attempt(context)
        yield knowledge_graph_pb2.LoadKnowledgeGraphStreamResponse(
            result=knowledge_graph_pb2.LoadKnowledgeGraphResponse(lines=7)
        )


@pytest.fixture
def server() -> Iterator[tuple[Server, str]]:
    servicer = Server()
    listener = grpc.server(futures.ThreadPoolExecutor(4))
    add_OrchestratorServiceServicer_to_server(servicer, listener)
    add_KnowledgeGraphServiceServicer_to_server(servicer, listener)
    port = listener.add_insecure_port("127.0.0.1:0")
    listener.start()
    yield servicer, f"127.0.0.1:{port}"
    listener.stop(None).wait()


UNAVAILABLE, EXHAUSTED = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED


def test_an_unavailable_mesh_is_called_again(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, kg="kg", retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE,), (UNAVAILABLE,)]
        assert client.ask("?").text == "answered" and servicer.calls == 3
        servicer.failures, servicer.calls = [(UNAVAILABLE,)] * 9, 0
        with pytest.raises(UnavailableError) as caught:
            client.ask("?")
        assert servicer.calls == FAST.attempts
        assert (caught.value.reason, caught.value.advice) == ("TOO_MANY_REQUESTS", "ask later")


async def test_the_asynchronous_client_retries_too(server: tuple[Server, str]) -> None:
    servicer, address = server
    async with AsyncClient(address, kg="kg", retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE,), (EXHAUSTED, 0.001)]
        assert (await client.ask("?")).text == "answered" and servicer.calls == 3
        servicer.failures, servicer.calls = [(UNAVAILABLE,)], 0
        events = [event async for event in client.ask_stream("?")]
        assert isinstance(events[-1], Run) and servicer.calls == 2


def test_shed_load_is_retried_only_when_the_mesh_says_when(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, kg="kg", retry=FAST) as client:
        servicer.failures = [(EXHAUSTED, 0.001)]
        assert client.ask("?").text == "answered" and servicer.calls == 2
        servicer.failures, servicer.calls = [(EXHAUSTED,)], 0
        with pytest.raises(ExhaustedError) as caught:
            client.ask("?")
        assert servicer.calls == 1 and caught.value.retry_after is None


def test_a_wait_beyond_the_timeout_fails_at_once(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, kg="kg", retry=FAST, timeout=60) as client:
        servicer.failures = [(EXHAUSTED, 3600.5)]
        with pytest.raises(ExhaustedError) as caught:
            client.ask("?")
    assert servicer.calls == 1 and caught.value.retry_after == 3600.5


def test_what_the_mesh_retried_itself_is_not_retried(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, kg="kg", retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE, None, "-1")]
        with pytest.raises(UnavailableError):
            client.ask("?")
    assert servicer.calls == 1


def test_a_call_that_is_not_idempotent_is_not_retried(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE,)]
        with pytest.raises(UnavailableError):
            client.rollback_kg("kg")
    assert servicer.calls == 1


def test_a_stream_is_retried_until_its_first_event(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, kg="kg", retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE,)]
        assert len(list(client.ask_stream("?"))) == 2 and servicer.calls == 2
        servicer.failures, servicer.calls = [(UNAVAILABLE,)], 0
        with pytest.raises(UnavailableError):
            list(client.ask_stream("fail late"))
        assert servicer.calls == 1


def test_a_retried_load_sends_everything_again(server: tuple[Server, str]) -> None:
    servicer, address = server
    with Client(address, retry=FAST) as client:
        servicer.failures = [(UNAVAILABLE,)]
        assert client.load_kg("kg", ("a.tsv", b"a\tb\tc\n")).lines == 7
    assert servicer.calls == 2 and servicer.received == ["header", "file", "chunk"]


@pytest.mark.parametrize(
    ("name", "error", "attempt", "remaining", "retried"),
    [
        ("the first failure", MeshError("UNAVAILABLE", ""), 1, 60, True),
        ("the last attempt", MeshError("UNAVAILABLE", ""), 4, 60, False),
        ("no time left", MeshError("UNAVAILABLE", ""), 1, 0, False),
        ("an error of the request", MeshError("INVALID_ARGUMENT", ""), 1, 60, False),
        ("an exhausted budget", MeshError("RESOURCE_EXHAUSTED", ""), 1, 60, False),
        ("room soon", MeshError("RESOURCE_EXHAUSTED", "", retry_after=1), 1, 60, True),
        ("room too late", MeshError("RESOURCE_EXHAUSTED", "", retry_after=60), 1, 60, False),
    ],
)
def test_retry_decides(name: str, error: MeshError, attempt: int, remaining: float, retried: bool) -> None:
    assert (Retry().delay(error, attempt, remaining) is not None) is retried, name


def test_backoff_doubles_up_to_its_maximum() -> None:
    retry = Retry(attempts=99, initial=0.1, maximum=1)
    for attempt, most in ((1, 0.1), (2, 0.2), (3, 0.4), (9, 1.0)):
        delay = retry.delay(MeshError("UNAVAILABLE", ""), attempt, 60)
        assert delay is not None and most / 2 <= delay <= most
