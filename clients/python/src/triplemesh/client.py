"""The client. Generated from aio.py by unasync.py; do not edit."""

from __future__ import annotations

import time
from collections.abc import Generator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import grpc

from triplemesh.orchestrator.v1 import feedback_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.orchestrator.v1.feedback_pb2_grpc import FeedbackServiceStub
from triplemesh.orchestrator.v1.orchestrator_pb2_grpc import OrchestratorServiceStub
from triplemesh.retriever.v1 import knowledge_graph_pb2, retriever_pb2
from triplemesh.retriever.v1.knowledge_graph_pb2_grpc import KnowledgeGraphServiceStub
from triplemesh.retriever.v1.retriever_pb2_grpc import RetrieverServiceStub

from . import _convert as convert
from ._channel import make_target
from ._load import FACT_COLUMNS, Facts, Source, make_requests, make_columns, write_facts
from ._retry import Retry
from .exceptions import MeshError, parse_error
from .values import (
    Answer,
    Check,
    Entity,
    Event,
    Feedback,
    GroundGraph,
    Judgement,
    Link,
    LoadProgress,
    LoadResult,
    Method,
    Neighbours,
    Run,
    Snapshot,
    Triple,
)


class Client:
    """A connection to the orchestrator of a mesh, which forwards the retriever's services.
    It is safe for use by several threads.

    kg is the knowledge graph of calls that name none, "wikidata" or "wikidata@3"; without it, the
    only one that exists is used. token is sent with every call, but over plaintext connections
    only to this machine, unless insecure_token is set. tls verifies the server by the system's
    authorities, ca by those of a file; cert and key are the client's certificate; server_name is
    the name in the server's certificate, if it is not that of the address. timeout bounds a call
    with its retries, in seconds.

    Failed calls raise MeshError.
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
        retry: Retry = Retry(),
    ) -> None:
        self._target = make_target(
            address,
            token=token,
            insecure_token=insecure_token,
            tls=tls,
            ca=ca,
            cert=cert,
            key=key,
            server_name=server_name,
        )
        self._kg = kg
        self._timeout = timeout
        self._retry = retry
        self._channel: grpc.Channel
        if self._target.credentials:
            self._channel = grpc.secure_channel(address, self._target.credentials, self._target.options)
        else:
            self._channel = grpc.insecure_channel(address, self._target.options)
        self._orchestrator: Any = OrchestratorServiceStub(self._channel)
        self._feedback: Any = FeedbackServiceStub(self._channel)
        self._retriever: Any = RetrieverServiceStub(self._channel)
        self._graphs: Any = KnowledgeGraphServiceStub(self._channel)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection and cancels the calls in flight."""
        self._channel.close()

    def ask(
        self,
        question: str,
        *,
        method: str = "",
        kg: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        topic_entities: Sequence[str] = (),
        plan: str = "",
        at: str = "",
        abstain_below: float = 0,
        max_calls: int = 0,
        timeout: float | None = None,
    ) -> Run:
        """Answers a question.

        method is one of list_methods(), by default auto. history is the conversation that the
        question follows, as (role, text) with the roles "user" and "assistant". topic_entities are
        names or ids. plan is what the method query computes, in its notation or as Cypher, instead
        of a plan of the model. at is an ISO 8601 date: only facts valid then are used. Answers with
        a confidence below abstain_below, 0 to 1, are withheld. max_calls limits the calls of the
        language model.
        """
        request = convert.make_ask_request(
            question,
            self._resolve_kg(kg),
            method=method,
            history=history,
            topic_entities=topic_entities,
            plan=plan,
            at=at,
            abstain_below=abstain_below,
            max_calls=max_calls,
        )
        return convert.parse_run((self._call(self._orchestrator.Ask, request, timeout)).run)

    def ask_stream(
        self,
        question: str,
        *,
        method: str = "",
        kg: str | None = None,
        history: Sequence[tuple[str, str]] = (),
        topic_entities: Sequence[str] = (),
        plan: str = "",
        at: str = "",
        abstain_below: float = 0,
        max_calls: int = 0,
        timeout: float | None = None,
    ) -> Generator[Event, None]:
        """Answers a question and yields an event when a stage starts or finishes and for each
        piece of the text; the last event is the Run. Closing the generator cancels the question."""
        request = convert.make_ask_request(
            question,
            self._resolve_kg(kg),
            method=method,
            history=history,
            topic_entities=topic_entities,
            plan=plan,
            at=at,
            abstain_below=abstain_below,
            max_calls=max_calls,
        )
        stream = self._stream(self._orchestrator.AskStream, lambda: pb.AskStreamRequest(request=request), timeout)
        try:
            for message in stream:
                if (event := convert.parse_event(message)) is not None:
                    yield event
        finally:
            stream.close()

    def check(self, text: str, *, kg: str | None = None, timeout: float | None = None) -> Check:
        """Checks a text claim by claim against a knowledge graph."""
        request = pb.CheckRequest(text=text, kg=convert.make_ref(self._resolve_kg(kg)))
        return convert.parse_check((self._call(self._orchestrator.Check, request, timeout)).check)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        subjects: Sequence[str] = (),
        relations: Sequence[str] = (),
        at: str = "",
        kg: str | None = None,
    ) -> list[Triple]:
        """Returns the triples nearest in meaning to a text, best first, with their cosine as score:
        only those with one of the subjects (names or ids) and relations, if given, and valid at a
        date."""
        request = retriever_pb2.SearchTriplesRequest(
            kg=convert.make_ref(self._resolve_kg(kg)),
            queries=[query],
            limit=limit,
            filter=retriever_pb2.Filter(subjects=subjects, relations=relations, at=at),
        )
        return convert.parse_hits(self._call(self._retriever.SearchTriples, request))

    def ground(self, question: str, *, at: str = "", kg: str | None = None) -> GroundGraph:
        """Returns the evidence for a question, without a call of a language model."""
        request = retriever_pb2.GroundGraphRequest(
            kg=convert.make_ref(self._resolve_kg(kg)),
            question=question,
            options=retriever_pb2.GroundingOptions(filter=retriever_pb2.Filter(at=at)),
        )
        return convert.parse_ground_graph(self._call(self._retriever.GroundGraph, request))

    def link(self, text: str, *, limit: int = 5, kg: str | None = None) -> list[Link]:
        """Returns the entities that a mention or a question may mean, most likely first."""
        request = retriever_pb2.LinkEntitiesRequest(
            kg=convert.make_ref(self._resolve_kg(kg)), text=text, limit=limit
        )
        return convert.parse_links(self._call(self._retriever.LinkEntities, request))

    def get_entities(self, entities: Sequence[str], *, kg: str | None = None) -> dict[str, Entity]:
        """Looks entities up by exact names or ids; those that do not exist are absent."""
        request = retriever_pb2.BatchGetEntitiesRequest(
            kg=convert.make_ref(self._resolve_kg(kg)), entities=entities
        )
        return convert.parse_entities(self._call(self._retriever.BatchGetEntities, request))

    def list_neighbours(
        self,
        entity: str,
        *,
        direction: str = "both",
        relations: Sequence[str] = (),
        limit: int = 100,
        kg: str | None = None,
    ) -> Neighbours:
        """Returns triples of an entity, by exact name or id: those with it as subject (direction
        out), as object (in) or both."""
        request = retriever_pb2.ListNeighboursRequest(
            kg=convert.make_ref(self._resolve_kg(kg)),
            entity=entity,
            direction=convert.make_enum(direction, "DIRECTION", retriever_pb2.Direction),
            relations=relations,
            limit=limit,
        )
        return convert.parse_neighbours(self._call(self._retriever.ListNeighbours, request))

    def get_run(self, id: str) -> Run:
        """Returns an answered question with all its graphs."""
        return convert.parse_run((self._call(self._orchestrator.GetRun, pb.GetRunRequest(id=id))).run)

    def list_runs(
        self, *, method: str = "", kg: str = "", query: str = "", page_size: int = 50
    ) -> Generator[Run, None]:
        """Yields answered questions, newest first, without their graphs, and fetches further pages
        on demand. query is words that the question, the text or the answers must contain."""
        request = pb.ListRunsRequest(method=method, kg_name=kg, query=query, page_size=page_size)
        while True:
            page = self._call(self._orchestrator.ListRuns, request)
            for run in page.runs:
                yield convert.parse_run(run)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def create_feedback(
        self,
        run_id: str,
        *,
        right: Sequence[str | Answer | Triple] = (),
        wrong: Sequence[str | Answer | Triple] = (),
        missing: Sequence[str | Answer | Triple] = (),
        comment: str = "",
    ) -> list[Feedback]:
        """Marks answers and triples of a run. What is missing is a name or id in the knowledge
        graph, or a triple. A mark replaces the caller's earlier one on the same item of the run."""
        judged = {Judgement.RIGHT: right, Judgement.WRONG: wrong, Judgement.MISSING: missing}
        request = feedback_pb2.CreateFeedbackRequest(run_id=run_id, marks=convert.make_marks(judged, comment))
        response = self._call(self._feedback.CreateFeedback, request)
        return [convert.parse_feedback(f) for f in response.feedback]

    def list_feedback(
        self, *, run_id: str = "", kg: str = "", subject: str = "", own: bool = False, page_size: int = 50
    ) -> Generator[Feedback, None]:
        """Yields stored feedback, that on the newest run first: the caller's own, or with the scope
        feedback:read that of all callers."""
        request = feedback_pb2.ListFeedbackRequest(
            run_id=run_id, kg_name=kg, subject=subject, own=own, page_size=page_size
        )
        while True:
            page = self._call(self._feedback.ListFeedback, request)
            for feedback in page.feedback:
                yield convert.parse_feedback(feedback)
            if not page.next_page_token:
                return
            request.page_token = page.next_page_token

    def delete_feedback(self, id: str) -> None:
        """Removes a mark."""
        self._call(self._feedback.DeleteFeedback, feedback_pb2.DeleteFeedbackRequest(id=id))

    def list_methods(self) -> list[Method]:
        """Returns the methods of answering."""
        response = self._call(self._orchestrator.ListMethods, pb.ListMethodsRequest())
        return [convert.parse_method(m) for m in response.methods]

    def list_kgs(self, name: str = "") -> list[Snapshot]:
        """Returns the snapshots of all knowledge graphs, or of one, by name, newest first."""
        request = knowledge_graph_pb2.ListKnowledgeGraphsRequest(kg_name=name)
        snapshots: list[Snapshot] = []
        while True:
            page = self._call(self._graphs.ListKnowledgeGraphs, request)
            snapshots += map(convert.parse_snapshot, page.snapshots)
            if not page.next_page_token:
                return snapshots
            request.page_token = page.next_page_token

    def load_kg(
        self,
        name: str,
        *sources: Source,
        triples: Facts = (),
        columns: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
        mode: str = "replace",
        vectors: bool = True,
        language: str = "",
        strict: bool = False,
        activate: bool = True,
        resume: bool = False,
        provenance: bool = False,
        on_progress: Callable[[LoadProgress], None] | None = None,
        timeout: float = 24 * 3600,
    ) -> LoadResult:
        """Builds a snapshot of a knowledge graph and activates it.

        sources are files (paths, or a name with bytes or with a function that opens a stream);
        triples are further facts. The names determine the formats: .tsv, .csv, .nt, .nq, .ttl,
        .jsonld, .json, also with .gz, .bz2 or .zst. columns are the headings of a CSV file by
        role: subject, relation, object, start, end, and its separator; without relation, every
        other column is a relation. rows names the entities of a table without a subject column, name
        is the column with the names of rows whose subject has codes. types are the types of columns by
        heading, where they are not to be inferred: entity, number, date, text or skip, and
        entity:employee of codes of the rows of another table. mode is replace, add or remove. A load
        is atomic: until it succeeds, the previous snapshot stays active.
        """
        table = make_columns(columns, types)
        facts = list(triples)
        files = [(source, table) for source in sources]
        if facts:
            files.append((write_facts(facts), make_columns(FACT_COLUMNS)))
        if not files:
            raise ValueError("load_kg needs a source; give a file or triples")
        header = knowledge_graph_pb2.LoadHeader(
            kg=convert.make_ref(name),
            mode=convert.make_enum(mode, "LOAD_MODE", knowledge_graph_pb2.LoadMode),
            vectors="VECTORS_ALL" if vectors else "VECTORS_NONE",
            language=language,
            strict=strict,
            no_activate=not activate,
            resume=resume,
            provenance=provenance,
        )
        failures: list[OSError] = []
        stream = self._stream(
            self._graphs.LoadKnowledgeGraphStream, lambda: make_requests(header, files, failures), timeout
        )
        try:
            for event in stream:
                if event.HasField("result"):
                    return convert.parse_load(event.result)
                if on_progress and event.HasField("progress"):
                    on_progress(convert.parse_progress(event.progress))
        except MeshError as error:
            if failures:
                raise failures[0] from error
            raise
        finally:
            stream.close()
        raise AssertionError("the load ended without a result")

    def activate_kg(self, kg: str) -> Snapshot:
        """Activates a snapshot, "wikidata@3"."""
        request = knowledge_graph_pb2.ActivateSnapshotRequest(kg=convert.make_ref(kg))
        return convert.parse_snapshot((self._call(self._graphs.ActivateSnapshot, request)).snapshot)

    def rollback_kg(self, name: str) -> Snapshot:
        """Activates the snapshot before the active one. It is not idempotent, so it is not retried."""
        request = knowledge_graph_pb2.RollbackKnowledgeGraphRequest(kg=convert.make_ref(name))
        response = self._call(self._graphs.RollbackKnowledgeGraph, request, idempotent=False)
        return convert.parse_snapshot(response.snapshot)

    def drop_kg(self, kg: str) -> None:
        """Removes a knowledge graph, "wikidata", or an inactive snapshot of it, "wikidata@2"."""
        request = knowledge_graph_pb2.DropKnowledgeGraphRequest(kg=convert.make_ref(kg))
        self._call(self._graphs.DropKnowledgeGraph, request)

    def _resolve_kg(self, kg: str | None) -> str:
        """Returns the knowledge graph given, that of the client, or the only one."""
        chosen = kg or self._kg
        if chosen:
            return chosen
        names = sorted({snapshot.name for snapshot in self.list_kgs() if snapshot.active})
        if len(names) != 1:
            raise ValueError(f"no knowledge graph given and {', '.join(names) or 'none'} exist; pass kg")
        self._kg = names[0]
        return self._kg

    def _call(self, method: Any, request: Any, timeout: float | None = None, idempotent: bool = True) -> Any:
        """Calls a unary method, with retries."""
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        attempt = 1
        while True:
            remaining = deadline - time.monotonic()
            try:
                return method(request, timeout=remaining, metadata=self._target.metadata)
            except grpc.RpcError as failure:
                error = parse_error(failure)
                delay = self._retry.delay(error, attempt, deadline - time.monotonic())
                if delay is None or not idempotent:
                    raise error from failure
            time.sleep(delay)
            attempt += 1

    def _stream(
        self, method: Any, make_request: Callable[[], Any], timeout: float | None
    ) -> Generator[Any, None]:
        """Calls a streaming method and yields its responses; retries until the first one."""
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        attempt = 1
        while True:
            started = False
            remaining = deadline - time.monotonic()
            stream = method(make_request(), timeout=remaining, metadata=self._target.metadata)
            try:
                for response in stream:
                    started = True
                    yield response
                return
            except grpc.RpcError as failure:
                error = parse_error(failure)
                delay = None if started else self._retry.delay(error, attempt, deadline - time.monotonic())
                if delay is None:
                    raise error from failure
            finally:
                stream.cancel()
            time.sleep(delay)
            attempt += 1
