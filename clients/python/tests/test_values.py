from __future__ import annotations

from triplemesh._convert import format_stage, parse_run
from triplemesh.graph.v1 import graph_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb
from triplemesh.values import Grounding, Triple

WROTE = graph_pb2.Triple(
    subject="Douglas Adams",
    subject_id="Q42",
    relation="genre",
    object="satire",
    object_id="Q128758",
    provenance="facts.csv:12",
)


def test_a_run_has_ids_and_provenance() -> None:
    run = parse_run(pb.Run(answers=[pb.Answer(answer="satire", id="Q128758", evidence=[WROTE])]))
    assert run.answers[0].id == "Q128758"
    assert run.answers[0].evidence == (
        Triple(
            "Douglas Adams", "genre", "satire", subject_id="Q42", object_id="Q128758", provenance="facts.csv:12"
        ),
    )


def test_every_grounding_of_the_contract_has_a_value() -> None:
    for name in pb.Grounding.keys():
        word = name.removeprefix("GROUNDING_").lower()
        assert parse_run(pb.Run(grounding=name)).grounding.value == word


def test_values_of_a_newer_mesh_are_read() -> None:
    run = pb.Run.FromString(pb.Run(text="x").SerializeToString() + b"\x38\x63")  # grounding = 99
    assert parse_run(run).grounding is Grounding.UNSPECIFIED
    assert format_stage(99) == "99"  # type: ignore[arg-type]
