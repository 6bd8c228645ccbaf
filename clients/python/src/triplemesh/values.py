"""Results of calls as plain values.

Values that stand for a whole message of the contract have it as message, for everything else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Union

from triplemesh.orchestrator.v1 import feedback_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.retriever.v1 import knowledge_graph_pb2, retriever_pb2

from . import display


class Grounding(str, Enum):
    """What an answer rests on."""

    GROUNDED = "grounded"
    """Triples of the knowledge graph."""
    PARTIAL = "partial"
    """Triples of the knowledge graph and the model's own knowledge."""
    RELATED = "related"
    """Triples name what the answer names, but do not say it."""
    UNGROUNDED = "ungrounded"
    """The model's own knowledge."""
    ABSTAINED = "abstained"
    """There is no answer."""
    UNSPECIFIED = "unspecified"
    """The run ended before it was determined, or this client is too old to know it."""


class Verdict(str, Enum):
    """What the knowledge graph says about a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_IN_KG = "not_in_kg"
    UNSPECIFIED = "unspecified"


class Judgement(str, Enum):
    """What a caller says about an answer or a triple of a run."""

    RIGHT = "right"
    WRONG = "wrong"
    MISSING = "missing"
    """It is right, and the run does not have it."""


@dataclass(frozen=True)
class Triple:
    """One fact. since and until are ISO 8601 dates, empty if unknown."""

    subject: str
    relation: str
    object: str
    since: str = ""
    until: str = ""
    score: float | None = None
    """Cosine to the query, -1 to 1; None if it was not measured."""
    subject_id: str = ""
    """IRI or key of the subject in the source; its name if the source has no ids."""
    object_id: str = ""
    """That of the object; empty for values."""
    provenance: str = ""
    """File and line, named graph or statement; empty unless it was loaded with provenance."""
    kg: str = ""
    """Name of the knowledge graph that holds it; set if several were read."""

    def __str__(self) -> str:
        return f"{self.subject} | {self.relation} | {self.object}"


@dataclass(frozen=True)
class Usage:
    """Cost of language model calls."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float


@dataclass(frozen=True)
class Answer:
    """One answer and the triples it rests on."""

    answer: str
    evidence: tuple[Triple, ...]
    id: str = ""
    """IRI or key of the entity in the source, or its name; empty for values."""


@dataclass(frozen=True)
class Run:
    """One answered question."""

    id: str
    question: str
    method: str
    kg: str
    """The snapshot that was read, as the argument kg takes it: "wikidata@3"."""
    text: str
    answers: tuple[Answer, ...]
    grounding: Grounding
    grounding_reason: str
    confidence: float | None
    """Probability that the answers are right, 0 to 1; None if there are none."""
    usage: Usage
    seconds: float
    started: datetime
    partial: bool
    """True if a budget or a failing stage ended the run early."""
    message: pb.Run = field(repr=False, compare=False)
    """Everything: all intermediate graphs, stages, spans."""

    def _repr_html_(self) -> str:
        return display.render_run(self)


@dataclass(frozen=True)
class Feedback:
    """A mark on one answer or triple of a run."""

    id: str
    run_id: str
    question: str
    judgement: Judgement
    item: Answer | Triple
    comment: str
    subject: str
    """The caller; empty without authentication."""
    created: datetime
    message: feedback_pb2.Feedback = field(repr=False, compare=False)
    """Everything: the answers that the run gave, the snapshot that it read."""


@dataclass(frozen=True)
class StageStarted:
    """A stage started."""

    stage: str


@dataclass(frozen=True)
class StageFinished:
    """A stage finished."""

    stage: str
    seconds: float
    usage: Usage
    message: pb.Run = field(repr=False, compare=False)
    """The run so far, with the graphs of the stage."""


@dataclass(frozen=True)
class Delta:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True)
class Restarted:
    """The text so far is void; it starts again."""


Event = Union[StageStarted, StageFinished, Delta, Restarted, Run]


@dataclass(frozen=True)
class Claim:
    """One fact that a text states: text[start:end]."""

    triple: Triple
    start: int
    end: int
    verdict: Verdict
    confidence: float
    evidence: tuple[Triple, ...]
    reason: str


@dataclass(frozen=True)
class Correction:
    """One change to a text, which corrects a claim."""

    start: int
    end: int
    before: str
    after: str
    claim: Claim


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

    def _repr_html_(self) -> str:
        return display.render_check(self)


@dataclass(frozen=True)
class Entity:
    """An entity of a knowledge graph."""

    name: str
    id: str
    """Its IRI or key in the source; its name if the source has no ids."""


@dataclass(frozen=True)
class Link:
    """An entity that a part of a text may mean."""

    name: str
    id: str
    mention: str
    score: float
    """Probability that the text means it, 0 to 1."""


@dataclass(frozen=True)
class Subject:
    """What a ground graph holds about one subject."""

    name: str
    id: str
    confidence: float
    triples: tuple[Triple, ...]


@dataclass(frozen=True)
class GroundGraph:
    """The evidence of a knowledge graph for a question."""

    subjects: tuple[Subject, ...]
    """Highest confidence first."""
    kg: str
    message: retriever_pb2.GroundGraphResponse = field(repr=False, compare=False)
    """Everything: hits, dropped subjects, reasoning paths."""

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples of all subjects."""
        return tuple(t for s in self.subjects for t in s.triples)

    def _repr_html_(self) -> str:
        return display.render_triples(self.triples)


@dataclass(frozen=True)
class Relation:
    """A relation around an entity."""

    name: str
    inverse: bool
    """True if the entity is the object."""
    triples: int


@dataclass(frozen=True)
class Neighbours:
    """The triples around an entity: a sample if total exceeds their number."""

    entity: Entity
    triples: tuple[Triple, ...]
    total: int
    relations: tuple[Relation, ...]
    """All relations of the entity, those with most triples first."""
    kg: str

    def _repr_html_(self) -> str:
        return display.render_triples(self.triples)


@dataclass(frozen=True)
class Snapshot:
    """One snapshot of a knowledge graph."""

    name: str
    snapshot: int
    active: bool
    triples: int
    entities: int
    relations: int
    message: knowledge_graph_pb2.SnapshotInfo = field(repr=False, compare=False)

    @property
    def kg(self) -> str:
        """The snapshot as the argument kg takes it: "wikidata@3"."""
        return f"{self.name}@{self.snapshot}"


@dataclass(frozen=True)
class LoadProgress:
    """Progress of a load: lines, triples or vectors done in a phase (read, sort, encode, write)."""

    phase: str
    done: int
    total: int | None


@dataclass(frozen=True)
class LoadResult:
    """What a load built."""

    snapshot: Snapshot
    lines: int
    bad_lines: int
    """Lines that hold no triple and were skipped."""
    duplicates: int
    errors: tuple[str, ...]
    """The first bad lines, as file:line: message."""


@dataclass(frozen=True)
class Method:
    """A method of answering."""

    name: str
    description: str
    calls: str
    needs_kg: bool


__all__ = [
    "Answer",
    "Check",
    "Claim",
    "Correction",
    "Delta",
    "Entity",
    "Event",
    "Feedback",
    "GroundGraph",
    "Grounding",
    "Judgement",
    "Link",
    "LoadProgress",
    "LoadResult",
    "Method",
    "Neighbours",
    "Relation",
    "Restarted",
    "Run",
    "Snapshot",
    "StageFinished",
    "StageStarted",
    "Subject",
    "Triple",
    "Usage",
    "Verdict",
]
