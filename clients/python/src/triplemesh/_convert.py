"""Conversion between values and messages of the contract."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timezone
from enum import Enum
from typing import Any, TypeVar

from triplemesh.generator.v1 import generator_pb2
from triplemesh.graph.v1 import graph_pb2
from triplemesh.llm.v1 import llm_pb2
from triplemesh.orchestrator.v1 import feedback_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.retriever.v1 import knowledge_graph_pb2, retriever_pb2
from triplemesh.verifier.v1 import verifier_pb2

from .values import (
    Answer,
    Check,
    Claim,
    Correction,
    Delta,
    Entity,
    Event,
    Feedback,
    GroundGraph,
    Grounding,
    Judgement,
    Link,
    LoadProgress,
    LoadResult,
    Method,
    Neighbours,
    Relation,
    Restarted,
    Run,
    Snapshot,
    StageFinished,
    StageStarted,
    Subject,
    Triple,
    Usage,
    Verdict,
)

E = TypeVar("E", bound=Enum)


def make_ref(kg: str) -> graph_pb2.KnowledgeGraphRef:
    """Parses "wikidata" or "wikidata@3"."""
    name, at, number = kg.partition("@")
    if at and not number.isdecimal():
        raise ValueError(f"kg {kg!r}: the snapshot is not a number; write NAME or NAME@NUMBER")
    return graph_pb2.KnowledgeGraphRef(name=name, snapshot=int(number or 0))


def make_ask_request(
    question: str,
    kg: str,
    *,
    method: str,
    history: Sequence[tuple[str, str]],
    topic_entities: Sequence[str],
    plan: str,
    at: str,
    abstain_below: float,
    max_calls: int,
) -> pb.AskRequest:
    for role, _ in history:
        if role not in ("user", "assistant"):
            raise ValueError(f"history: role {role!r}; use user or assistant")
    request = pb.AskRequest(
        question=question,
        method=method,
        kg=make_ref(kg),
        history=[generator_pb2.Turn(role=f"ROLE_{role.upper()}", text=text) for role, text in history],
        topic_entities=topic_entities,
        plan=plan,
        options=pb.AskOptions(abstain_below=abstain_below),
        limits=llm_pb2.Limits(budget=llm_pb2.Budget(max_calls=max_calls)),
    )
    if at:
        request.options.grounding.filter.at = at
    return request


def make_marks(judged: dict[Judgement, Sequence[str | Answer | Triple]], comment: str) -> list[feedback_pb2.Mark]:
    return [_make_mark(item, judgement, comment) for judgement, items in judged.items() for item in items]


def _make_mark(item: str | Answer | Triple, judgement: Judgement, comment: str) -> feedback_pb2.Mark:
    mark = feedback_pb2.Mark(judgement=f"JUDGEMENT_{judgement.name}", comment=comment)
    if isinstance(item, Triple):
        triple = mark.triple
        triple.subject, triple.relation, triple.object = item.subject, item.relation, item.object
        triple.subject_id, triple.object_id = item.subject_id, item.object_id
    elif isinstance(item, Answer):
        mark.answer.answer, mark.answer.id = item.answer, item.id
    else:
        mark.answer.answer = item
    return mark


def make_enum(value: str, prefix: str, enum: Any) -> str:
    """Returns the name of an enum value, of which the caller gave the last part in lower case."""
    name = f"{prefix}_{value.upper()}"
    if name not in enum.keys():
        known = ", ".join(key.removeprefix(f"{prefix}_").lower() for key in enum.keys() if "UNSPECIFIED" not in key)
        raise ValueError(f"{prefix.lower().replace('_', ' ')} {value!r} does not exist; use one of {known}")
    return name


def format_ref(ref: graph_pb2.KnowledgeGraphRef) -> str:
    return f"{ref.name}@{ref.snapshot}" if ref.snapshot else ref.name


def format_stage(stage: pb.Stage) -> str:
    """Returns "pseudo-graph" for STAGE_PSEUDO_GRAPH, and the number of an unknown stage."""
    if stage not in pb.Stage.values():
        return str(stage)
    return pb.Stage.Name(stage).removeprefix("STAGE_").lower().replace("_", "-")


def _parse_enum(cls: type[E], enum: Any, prefix: str, value: int) -> E:
    """Converts an enum value; an unknown one, of a newer mesh, becomes UNSPECIFIED."""
    try:
        return cls(enum.Name(value).removeprefix(prefix).lower())
    except ValueError:
        return cls("unspecified")


def parse_triple(t: graph_pb2.Triple, score: float | None = None) -> Triple:
    return Triple(
        t.subject,
        t.relation,
        t.object,
        t.validity.start,
        t.validity.end,
        score,
        t.subject_id,
        t.object_id,
        t.provenance,
        t.kg_name,
    )


def parse_usage(u: llm_pb2.Usage) -> Usage:
    return Usage(u.calls, u.prompt_tokens, u.completion_tokens, u.cost_usd)


def parse_run(run: pb.Run) -> Run:
    return Run(
        id=run.id,
        question=run.question,
        method=run.method,
        kg=format_ref(run.kg),
        text=run.text,
        answers=tuple(Answer(a.answer, tuple(map(parse_triple, a.evidence)), a.id) for a in run.answers),
        grounding=_parse_enum(Grounding, pb.Grounding, "GROUNDING_", run.grounding),
        grounding_reason=run.grounding_reason,
        confidence=run.confidence if run.HasField("confidence") else None,
        usage=parse_usage(run.usage),
        seconds=run.duration.ToTimedelta().total_seconds(),
        started=run.start_time.ToDatetime(tzinfo=timezone.utc),
        partial=run.partial,
        message=run,
    )


def parse_event(event: pb.AskStreamResponse) -> Event | None:
    """Converts an event; None for one of a newer mesh."""
    kind = event.WhichOneof("event")
    if kind == "stage_started":
        return StageStarted(format_stage(event.stage_started.stage))
    if kind == "stage_finished":
        report = event.stage_finished.report
        return StageFinished(
            format_stage(report.stage),
            report.duration.ToTimedelta().total_seconds(),
            parse_usage(report.usage),
            event.stage_finished.run,
        )
    if kind == "answer_delta":
        return Delta(event.answer_delta)
    if kind == "answer_restarted":
        return Restarted()
    if kind == "run":
        return parse_run(event.run)
    return None


def parse_check(check: pb.Check) -> Check:
    claims = tuple(
        Claim(
            parse_triple(c.triple),
            c.span.start,
            c.span.end,
            _parse_enum(Verdict, verifier_pb2.Verdict, "VERDICT_", c.verdict),
            c.confidence,
            tuple(parse_triple(e.triple, e.score) for e in c.evidence),
            c.reason,
        )
        for c in check.claims
    )
    return Check(
        text=check.text,
        claims=claims,
        corrected_text=check.corrected_text,
        corrections=tuple(
            Correction(c.span.start, c.span.end, c.before, c.after, claims[c.claim]) for c in check.corrections
        ),
        kg=format_ref(check.kg),
        usage=parse_usage(check.usage),
        partial=check.partial,
        message=check,
    )


def parse_feedback(f: feedback_pb2.Feedback) -> Feedback:
    mark = f.mark
    item = parse_triple(mark.triple) if mark.HasField("triple") else Answer(mark.answer.answer, (), mark.answer.id)
    return Feedback(
        id=f.id,
        run_id=f.run_id,
        question=f.question,
        judgement=Judgement[feedback_pb2.Judgement.Name(mark.judgement).removeprefix("JUDGEMENT_")],
        item=item,
        comment=mark.comment,
        subject=f.subject,
        created=f.create_time.ToDatetime(tzinfo=timezone.utc),
        message=f,
    )


def parse_links(response: retriever_pb2.LinkEntitiesResponse) -> list[Link]:
    return [Link(link.entity, link.entity_id, link.mention, link.score) for link in response.links]


def parse_hits(response: retriever_pb2.SearchTriplesResponse) -> list[Triple]:
    return [parse_triple(hit.triple, hit.score) for result in response.results for hit in result.triples]


def parse_ground_graph(response: retriever_pb2.GroundGraphResponse) -> GroundGraph:
    return GroundGraph(
        tuple(
            Subject(s.subject, s.subject_id, s.confidence, tuple(parse_triple(t.triple, t.score) for t in s.triples))
            for s in response.ground_graph.subjects
        ),
        format_ref(response.kg),
        response,
    )


def parse_neighbours(response: retriever_pb2.ListNeighboursResponse) -> Neighbours:
    return Neighbours(
        Entity(response.entity.name, response.entity.id),
        tuple(map(parse_triple, response.triples)),
        response.total,
        tuple(Relation(r.relation, r.inverse, r.triples) for r in response.relations),
        format_ref(response.kg),
    )


def parse_entities(response: retriever_pb2.BatchGetEntitiesResponse) -> dict[str, Entity]:
    return {key: Entity(entity.name, entity.id) for key, entity in response.entities.items()}


def parse_snapshot(info: knowledge_graph_pb2.SnapshotInfo) -> Snapshot:
    return Snapshot(
        info.kg.name, info.kg.snapshot, info.active, info.triples, info.entities, info.relations, info
    )


def parse_progress(progress: knowledge_graph_pb2.LoadProgress) -> LoadProgress:
    phase = progress.phase
    known = phase in knowledge_graph_pb2.LoadPhase.values()
    return LoadProgress(
        knowledge_graph_pb2.LoadPhase.Name(phase).removeprefix("LOAD_PHASE_").lower() if known else str(phase),
        progress.done,
        progress.total if progress.HasField("total") else None,
    )


def parse_load(result: knowledge_graph_pb2.LoadKnowledgeGraphResponse) -> LoadResult:
    return LoadResult(
        parse_snapshot(result.snapshot),
        result.lines,
        result.bad_lines,
        result.duplicates,
        tuple(f"{e.file}:{e.line or f'byte {e.byte}'}: {e.message}" for e in result.errors),
    )


def parse_method(m: pb.Method) -> Method:
    return Method(m.name, m.description, m.calls, m.needs_kg)
