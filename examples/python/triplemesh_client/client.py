"""The client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import grpc

from triplemesh.llm.v1 import llm_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.orchestrator.v1.orchestrator_pb2_grpc import OrchestratorServiceStub
from triplemesh.retriever.v1 import knowledge_graph_pb2, retriever_pb2
from triplemesh.retriever.v1.knowledge_graph_pb2_grpc import KnowledgeGraphServiceStub
from triplemesh.retriever.v1.retriever_pb2_grpc import RetrieverServiceStub

from .channel import is_here, open_channel
from .errors import mesh_errors
from .values import (
    Check,
    Entity,
    Event,
    KnowledgeGraph,
    Method,
    Run,
    check_of,
    event_of,
    knowledge_graph_of,
    ref_of,
    run_of,
    turn_of,
)


class Client:
    """A connection to a mesh, by its orchestrator. Safe for many threads.

    kg is the knowledge graph that calls read which name none, "wikidata" or
    "wikidata@3"; without it the only one there is. token is sent with every
    call, but over plain connections to this machine alone unless insecure_token
    says otherwise. tls believes the authorities of this machine, ca those of a
    file; cert and key are shown to servers that ask for them; server_name is
    whose certificate is wanted where it is not the address's. timeout is how
    many seconds a call may take.

    Calls that fail raise MeshError.
    """

    def __init__(
        self,
        address: str = "127.0.0.1:9090",
        *,
        kg: str | None = None,
        token: str | None = None,
        insecure_token: bool = False,
        tls: bool = False,
        ca: str | Path | None = None,
        cert: str | Path | None = None,
        key: str | Path | None = None,
        server_name: str | None = None,
        timeout: float = 300,
    ) -> None:
        secure = bool(tls or ca or cert or key)
        if token and not (secure or insecure_token or is_here(address)):
            raise ValueError(
                f"the token would go to {address} for everybody on the way to read: use tls or ca, or insecure_token"
            )
        self._kg = kg
        self._timeout = timeout
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._channel: grpc.Channel = open_channel(
            address, tls=tls, ca=ca, cert=cert, key=key, server_name=server_name
        )
        self._orchestrator = OrchestratorServiceStub(self._channel)
        self._retriever = RetrieverServiceStub(self._channel)
        self._graphs = KnowledgeGraphServiceStub(self._channel)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connection, and calls under way."""
        self._channel.close()

    def ask(
        self,
        question: str,
        *,
        method: str = "",
        kg: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        topic_entities: Sequence[str] = (),
        at: str = "",
        abstain_below: float = 0,
        max_calls: int = 0,
        timeout: float | None = None,
    ) -> Run:
        """Answers a question.

        method is one of methods(), "pg-akv" where none is named; history is what
        was said before, turn by turn, each by "user" or "assistant", where the
        question follows on it; at is an ISO 8601 date: only what held then counts; abstain_below, 0 to 1, is the
        least confidence of an answer; max_calls bounds the calls of the model.
        """
        request = self._request(question, method, kg, history, topic_entities, at, abstain_below, max_calls)
        with mesh_errors():
            answer = self._orchestrator.Ask(request, timeout=timeout or self._timeout, metadata=self._metadata)
        return run_of(answer.run)

    def ask_stream(
        self,
        question: str,
        *,
        method: str = "",
        kg: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        topic_entities: Sequence[str] = (),
        at: str = "",
        abstain_below: float = 0,
        max_calls: int = 0,
        timeout: float | None = None,
    ) -> Iterator[Event]:
        """Answers a question and tells of each stage as it begins and ends, and
        of the text as it is written. The last event is the Run. Whoever stops
        listening (close() of the iterator) ends the work."""
        request = self._request(question, method, kg, history, topic_entities, at, abstain_below, max_calls)
        with mesh_errors():
            stream = self._orchestrator.AskStream(
                pb.AskStreamRequest(request=request), timeout=timeout or self._timeout, metadata=self._metadata
            )
            try:
                for message in stream:
                    event = event_of(message)
                    if event is not None:
                        yield event
            finally:
                stream.cancel()

    def check(self, text: str, *, kg: str | None = None, timeout: float | None = None) -> Check:
        """Splits a text into claims and tells of each what the knowledge graph
        says of it."""
        request = pb.CheckRequest(text=text, kg=ref_of(self._name(kg)))
        with mesh_errors():
            answer = self._orchestrator.Check(request, timeout=timeout or self._timeout, metadata=self._metadata)
        return check_of(answer.check)

    def link(self, text: str, *, kg: str | None = None, limit: int = 5) -> list[Entity]:
        """The entities that a mention or a question may mean, likeliest first."""
        request = retriever_pb2.LinkEntitiesRequest(text=text, kg=ref_of(self._name(kg)), limit=limit)
        with mesh_errors():
            answer = self._retriever.LinkEntities(request, timeout=self._timeout, metadata=self._metadata)
        return [Entity(one.entity, one.mention, one.score) for one in answer.links]

    def run(self, id: str) -> Run:
        """An answered question, with every graph in its message."""
        with mesh_errors():
            answer = self._orchestrator.GetRun(
                pb.GetRunRequest(id=id), timeout=self._timeout, metadata=self._metadata
            )
        return run_of(answer.run)

    def runs(self, *, method: str = "", kg: str = "", query: str = "", page_size: int = 50) -> Iterator[Run]:
        """Answered questions, newest first, without their graphs. They are
        fetched page by page while they are gone through. query is words that
        the question, the text or the answers must hold."""
        request = pb.ListRunsRequest(method=method, kg=kg, query=query, page_size=page_size)
        while True:
            with mesh_errors():
                page = self._orchestrator.ListRuns(request, timeout=self._timeout, metadata=self._metadata)
            yield from map(run_of, page.runs)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def methods(self) -> list[Method]:
        """The ways to answer."""
        with mesh_errors():
            answer = self._orchestrator.ListMethods(
                pb.ListMethodsRequest(), timeout=self._timeout, metadata=self._metadata
            )
        return [Method(m.name, m.description, m.calls, m.needs_kg) for m in answer.methods]

    def knowledge_graphs(self) -> list[KnowledgeGraph]:
        """The snapshots there are, by name, newest first."""
        with mesh_errors():
            answer = self._graphs.List(
                knowledge_graph_pb2.ListRequest(), timeout=self._timeout, metadata=self._metadata
            )
        return [knowledge_graph_of(s) for s in answer.snapshots]

    def _request(
        self,
        question: str,
        method: str,
        kg: str | None,
        history: Sequence[tuple[str, str]],
        topic_entities: Sequence[str],
        at: str,
        abstain_below: float,
        max_calls: int,
    ) -> pb.AskRequest:
        request = pb.AskRequest(
            question=question,
            method=method,
            kg=ref_of(self._name(kg)),
            history=[turn_of(role, text) for role, text in history],
            topic_entities=topic_entities,
            options=pb.AskOptions(abstain_below=abstain_below),
            limits=llm_pb2.Limits(budget=llm_pb2.Budget(max_calls=max_calls)),
        )
        if at:
            request.options.grounding.filter.at = at
        return request

    def _name(self, kg: str | None) -> str:
        """The knowledge graph to read: the one named, else the client's, else
        the only one."""
        chosen = kg or self._kg
        if chosen:
            return chosen
        names = sorted({one.name for one in self.knowledge_graphs() if one.active})
        if len(names) != 1:
            raise ValueError(f"name a knowledge graph by kg: there are {', '.join(names) or 'none'}")
        self._kg = names[0]
        return self._kg
