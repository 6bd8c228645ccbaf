from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
from conftest import Mesh

from triplemesh_client import (
    Client,
    Delta,
    Event,
    Grounding,
    MeshError,
    Run,
    StageFinished,
    StageStarted,
    Verdict,
)
from triplemesh_client.channel import is_here

QUESTION = "What institution employed Robert Stam?"
HOPS = "At which university did the director of the film Alexander study?"


def test_a_question_is_answered_with_its_evidence(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        run = client.ask(QUESTION)
    assert [a.answer for a in run.answers] == ["New York University"]
    assert str(run.answers[0].evidence[0]) == "Robert Stam | employer | New York University"
    assert run.grounding is Grounding.GROUNDED and run.method == "pg-akv" and run.kg == "wikidata@1"
    assert run.confidence is not None and 0 < run.confidence <= 1
    assert run.usage.calls == 2 and run.seconds > 0 and run.started.tzinfo is not None
    assert run.message.pg_akv.edits[0].before.object == "Google"


def test_a_stream_tells_of_each_stage_and_ends_in_the_run(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        events: list[Event] = list(client.ask_stream(QUESTION))
    started = [e.stage for e in events if isinstance(e, StageStarted)]
    finished = [e for e in events if isinstance(e, StageFinished)]
    run = events[-1]
    assert isinstance(run, Run)
    assert started == [f.stage for f in finished] == ["pseudo-graph", "ground-graph", "verify", "answer"]
    assert finished[0].usage.calls == 1 and finished[0].message.pg_akv.pseudo_graph.triples
    assert "".join(e.text for e in events if isinstance(e, Delta)) == run.text


def test_a_stream_that_nobody_hears_out_is_ended(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        stream = client.ask_stream(QUESTION)
        assert isinstance(next(stream), StageStarted)
        stream.close()  # type: ignore[attr-defined]
        assert client.ask(QUESTION).answers


def test_options_reach_the_mesh(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        run = client.ask(HOPS, method="ger", kg="wikidata@1", topic_entities=["Oliver Stone"])
        assert run.method == "ger" and run.message.ger.topic_entities[0].entity == "Oliver Stone"
        assert client.ask(QUESTION, abstain_below=1).grounding is Grounding.ABSTAINED
        assert client.ask(QUESTION, max_calls=1).partial


def test_a_question_that_follows_others_is_answered(mesh: Mesh) -> None:
    said = [("user", "Who directed the film Alexander?"), ("assistant", "Oliver Stone.")]
    with Client(mesh.address) as client:
        run = client.ask("And where did he study?", method="ger", history=said)
        assert "University Yale" in [a.answer for a in run.answers]
        with pytest.raises(ValueError):
            client.ask(QUESTION, history=[("nobody", "?")])


def test_a_text_is_checked_claim_by_claim(mesh: Mesh) -> None:
    text = "Robert Stam works at Google. Oliver Stone was born in New York City. Robert Stam collects stamps."
    with Client(mesh.address) as client:
        check = client.check(text)
    assert [c.verdict for c in check.claims] == [Verdict.CONTRADICTED, Verdict.SUPPORTED, Verdict.NOT_IN_KG]
    wrong = check.claims[0]
    assert "Google" in text[wrong.start : wrong.end]
    assert wrong.evidence[0].object == "New York University" and wrong.evidence[0].score is not None
    assert "New York University" in check.corrected_text
    assert check.corrections[0].before == "Google" and check.corrections[0].claim == wrong


def test_entities_methods_and_knowledge_graphs_are_found(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        assert client.link("robert stam")[0].name == "Robert Stam"
        assert {"pg-akv", "ger", "io"} <= {m.name for m in client.methods()}
        (kg,) = client.knowledge_graphs()
    assert (kg.name, kg.snapshot, kg.active) == ("wikidata", 1, True) and kg.triples > 10


def test_runs_are_listed_page_by_page_and_read_back(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        asked = [client.ask(QUESTION).id for _ in range(3)]
        assert [r.id for r, _ in zip(client.runs(page_size=1), range(3))] == asked[::-1]
        assert client.run(asked[0]).message.pg_akv.hits
        assert not list(client.runs(query="words that nobody asked"))


def test_errors_say_what_is_wrong(mesh: Mesh) -> None:
    with Client(mesh.address) as client:
        calls: dict[str, Callable[[], Run]] = {
            "NOT_FOUND": lambda: client.ask(QUESTION, kg="nowhere"),
            "INVALID_ARGUMENT": lambda: client.ask("", kg="wikidata"),
            "DEADLINE_EXCEEDED": lambda: client.ask(QUESTION, kg="wikidata", timeout=0.001),
        }
        for code, call in calls.items():
            with pytest.raises(MeshError) as caught:
                call()
            assert caught.value.code == code and caught.value.message
        with pytest.raises(MeshError, match="NOT_FOUND"):
            list(client.ask_stream(QUESTION, kg="nowhere"))
        with pytest.raises(ValueError):
            client.ask(QUESTION, kg="wikidata@x")


def test_nobody_there_is_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with Client(f"127.0.0.1:{taken.getsockname()[1]}", timeout=5) as client:
            with pytest.raises(MeshError) as caught:
                client.ask(QUESTION)
    assert caught.value.code == "UNAVAILABLE"


def test_a_mesh_that_asks_is_shown_a_token_over_tls(closed: Mesh) -> None:
    with Client(closed.address, ca=closed.ca, token=closed.token) as client:
        assert client.ask(QUESTION).grounding is Grounding.GROUNDED
    with Client(closed.address, ca=closed.ca) as client, pytest.raises(MeshError) as caught:
        client.ask(QUESTION, kg="wikidata")
    assert caught.value.code == "UNAUTHENTICATED"
    with Client(closed.address, tls=True, timeout=5) as client, pytest.raises(MeshError) as caught:
        client.ask(QUESTION, kg="wikidata")
    assert caught.value.code == "UNAVAILABLE"  # nobody whom this machine believes


def test_a_token_does_not_leave_the_machine_in_plain_text() -> None:
    with pytest.raises(ValueError, match="insecure_token"):
        Client("mesh.example.org:9090", token="secret")
    Client("mesh.example.org:9090", token="secret", insecure_token=True).close()


@pytest.mark.parametrize(
    ("address", "here"),
    [("127.0.0.1:9090", True), ("[::1]:9090", True), ("localhost:9090", True), ("10.0.0.1:9090", False), ("a.org:1", False)],
)
def test_this_machine_is_known_by_its_addresses(address: str, here: bool) -> None:
    assert is_here(address) is here
