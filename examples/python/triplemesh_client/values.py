"""What a mesh answers, as plain values. Those that stand for a whole message of
the contract have it as message, for all that is not here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Union

from triplemesh.generator.v1 import generator_pb2
from triplemesh.graph.v1 import graph_pb2
from triplemesh.llm.v1 import llm_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.retriever.v1 import knowledge_graph_pb2
from triplemesh.verifier.v1 import verifier_pb2


class Grounding(str, Enum):
    """What an answer rests on."""

    GROUNDED = "grounded"
    """Triples of the knowledge graph."""
    PARTIAL = "partial"
    """Both."""
    UNGROUNDED = "ungrounded"
    """The model's own knowledge."""
    ABSTAINED = "abstained"
    """There is no answer."""
    UNSPECIFIED = "unspecified"
    """The run ended before that was settled."""


class Verdict(str, Enum):
    """What the knowledge graph says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_IN_KG = "not_in_kg"
    UNSPECIFIED = "unspecified"


@dataclass(frozen=True)
class Triple:
    """One fact. since and until are ISO 8601 dates, empty where nobody says."""

    subject: str
    relation: str
    object: str
    since: str = ""
    until: str = ""
    score: float | None = None
    """Closeness to what was asked, -1 to 1; None where it was not measured."""

    def __str__(self) -> str:
        return f"{self.subject} | {self.relation} | {self.object}"


@dataclass(frozen=True)
class Usage:
    """What language models cost."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


@dataclass(frozen=True)
class Answer:
    """One answer and the triples it rests on."""

    answer: str
    evidence: tuple[Triple, ...]


@dataclass(frozen=True)
class Run:
    """One answered question."""

    id: str
    question: str
    method: str
    kg: str
    """The snapshot that was read, as kg takes it: "wikidata@3"."""
    text: str
    answers: tuple[Answer, ...]
    grounding: Grounding
    grounding_reason: str
    confidence: float | None
    """How likely the answers are right, 0 to 1; None where there are none."""
    usage: Usage
    seconds: float
    started: datetime
    partial: bool
    """True where a budget or a failing stage ended the run early."""
    message: pb.Run = field(repr=False, compare=False)
    """Everything: every graph on the way, the stages, the spans."""


@dataclass(frozen=True)
class StageStarted:
    """A stage began."""

    stage: str


@dataclass(frozen=True)
class StageFinished:
    """A stage ended."""

    stage: str
    seconds: float
    usage: Usage
    message: pb.Run = field(repr=False, compare=False)
    """The run so far: the graphs that the stage made are set."""


@dataclass(frozen=True)
class Delta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True)
class Restarted:
    """The pieces of the answer's text so far count no more; others follow."""


Event = Union[StageStarted, StageFinished, Delta, Restarted, Run]


@dataclass(frozen=True)
class Claim:
    """One fact that a text states."""

    triple: Triple
    start: int
    end: int
    """text[start:end] says it."""
    verdict: Verdict
    confidence: float
    evidence: tuple[Triple, ...]
    reason: str


@dataclass(frozen=True)
class Correction:
    """One change to a text."""

    start: int
    end: int
    before: str
    after: str
    claim: Claim
    """The claim that it puts right."""


@dataclass(frozen=True)
class Check:
    """A checked text."""

    text: str
    claims: tuple[Claim, ...]
    corrected_text: str
    corrections: tuple[Correction, ...]
    kg: str
    usage: Usage
    partial: bool
    message: pb.Check = field(repr=False, compare=False)


@dataclass(frozen=True)
class Entity:
    """An entity that a text may mean."""

    name: str
    mention: str
    score: float


@dataclass(frozen=True)
class KnowledgeGraph:
    """One snapshot of a knowledge graph."""

    name: str
    snapshot: int
    active: bool
    triples: int
    entities: int
    relations: int


@dataclass(frozen=True)
class Method:
    """A way to answer."""

    name: str
    description: str
    calls: str
    needs_kg: bool


def stage_name(stage: pb.Stage) -> str:
    """ "pseudo-graph" of STAGE_PSEUDO_GRAPH; of one that this client is too old
    to know, its number."""
    if stage not in pb.Stage.values():
        return str(stage)
    return pb.Stage.Name(stage).removeprefix("STAGE_").lower().replace("_", "-")


def ref_of(kg: str) -> graph_pb2.KnowledgeGraphRef:
    """The reference that "wikidata" or "wikidata@3" stands for."""
    name, _, number = kg.partition("@")
    return graph_pb2.KnowledgeGraphRef(name=name, snapshot=int(number) if number else 0)


def turn_of(role: str, text: str) -> generator_pb2.Turn:
    """What "user" or "assistant" said."""
    return generator_pb2.Turn(role=f"ROLE_{role.upper()}", text=text)


def kg_of(ref: graph_pb2.KnowledgeGraphRef) -> str:
    return f"{ref.name}@{ref.snapshot}" if ref.snapshot else ref.name


def triple_of(t: graph_pb2.Triple, score: float | None = None) -> Triple:
    return Triple(t.subject, t.relation, t.object, t.validity.start, t.validity.end, score)


def usage_of(u: llm_pb2.Usage) -> Usage:
    return Usage(u.calls, u.prompt_tokens, u.completion_tokens, u.cost_usd)


def grounding_of(value: pb.Grounding) -> Grounding:
    try:
        return Grounding(pb.Grounding.Name(value).removeprefix("GROUNDING_").lower())
    except ValueError:
        return Grounding.UNSPECIFIED


def verdict_of(value: verifier_pb2.Verdict) -> Verdict:
    try:
        return Verdict(verifier_pb2.Verdict.Name(value).removeprefix("VERDICT_").lower())
    except ValueError:
        return Verdict.UNSPECIFIED


def run_of(run: pb.Run) -> Run:
    return Run(
        id=run.id,
        question=run.question,
        method=run.method,
        kg=kg_of(run.kg),
        text=run.text,
        answers=tuple(Answer(a.answer, tuple(triple_of(t) for t in a.evidence)) for a in run.answers),
        grounding=grounding_of(run.grounding),
        grounding_reason=run.grounding_reason,
        confidence=run.confidence if run.HasField("confidence") else None,
        usage=usage_of(run.usage),
        seconds=run.duration.ToTimedelta().total_seconds(),
        started=run.started.ToDatetime(tzinfo=timezone.utc),
        partial=run.partial,
        message=run,
    )


def event_of(event: pb.AskStreamResponse) -> Event | None:
    """An event; None for one that this client is too old to know."""
    kind = event.WhichOneof("event")
    if kind == "stage_started":
        return StageStarted(stage_name(event.stage_started.stage))
    if kind == "stage_finished":
        report = event.stage_finished.report
        return StageFinished(
            stage_name(report.stage),
            report.duration.ToTimedelta().total_seconds(),
            usage_of(report.usage),
            event.stage_finished.run,
        )
    if kind == "answer_delta":
        return Delta(event.answer_delta)
    if kind == "answer_restarted":
        return Restarted()
    if kind == "run":
        return run_of(event.run)
    return None


def check_of(check: pb.Check) -> Check:
    claims = tuple(
        Claim(
            triple_of(c.triple),
            c.span.start,
            c.span.end,
            verdict_of(c.verdict),
            c.confidence,
            tuple(triple_of(e.triple, e.score) for e in c.evidence),
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
        kg=kg_of(check.kg),
        usage=usage_of(check.usage),
        partial=check.partial,
        message=check,
    )


def knowledge_graph_of(info: knowledge_graph_pb2.SnapshotInfo) -> KnowledgeGraph:
    return KnowledgeGraph(
        info.kg.name, info.kg.snapshot, info.active, info.triples, info.entities, info.relations
    )
