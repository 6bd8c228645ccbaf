from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Mesh

from triplemesh import (
    AccessError,
    Client,
    DeadlineError,
    Delta,
    Event,
    Grounding,
    InvalidRequestError,
    Judgement,
    LoadProgress,
    MeshError,
    NotFoundError,
    Retry,
    Run,
    StageFinished,
    StageStarted,
    Triple,
    UnavailableError,
    Verdict,
)
from triplemesh._channel import is_loopback

QUESTION = "What institution employed Robert Stam?"
HOPS = "At which university did the director of the film Alexander study?"


def test_a_question_is_answered_with_its_evidence(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        run = client.ask(QUESTION)
        drafted = client.ask(QUESTION, method="pg-akv")
    assert [a.answer for a in run.answers] == ["New York University"]
    assert str(run.answers[0].evidence[0]) == "Robert Stam | employer | New York University"
    assert run.answers[0].id == run.answers[0].evidence[0].object_id == "New York University"
    assert run.grounding is Grounding.GROUNDED and run.method == "auto" and run.kg == "wikidata@1"
    assert run.message.choice.method == "pg-akv"
    assert run.confidence is not None and 0 < run.confidence <= 1
    assert run.usage.calls == 1 and run.seconds > 0 and run.started.tzinfo is not None
    assert drafted.usage.calls == 2 and drafted.message.pg_akv.edits[0].before.object == "Google"


def test_a_stream_reports_each_stage_and_ends_with_the_run(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        events: list[Event] = list(client.ask_stream(QUESTION, method="pg-akv"))
        chosen = [e.stage for e in client.ask_stream(QUESTION) if isinstance(e, StageStarted)]
    started = [e.stage for e in events if isinstance(e, StageStarted)]
    finished = [e for e in events if isinstance(e, StageFinished)]
    run = events[-1]
    assert isinstance(run, Run)
    assert started == [f.stage for f in finished]
    assert started == ["pseudo-graph", "ground-graph", "verify", "answer"]
    assert chosen == ["choose", "ground-graph", "verify", "answer"]
    assert finished[0].usage.calls == 1 and finished[0].message.pg_akv.pseudo_graph.triples
    assert "".join(e.text for e in events if isinstance(e, Delta)) == run.text


def test_a_closed_stream_cancels_its_question(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        stream = client.ask_stream(QUESTION)
        assert isinstance(next(stream), StageStarted)
        stream.close()
        assert client.ask(QUESTION).answers


def test_options_reach_the_mesh(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        run = client.ask(HOPS, method="ger", kg="wikidata@1", topic_entities=["Oliver Stone"])
        assert run.method == "ger" and run.message.ger.topic_entities[0].entity == "Oliver Stone"
        assert client.ask(QUESTION, abstain_below=1).grounding is Grounding.ABSTAINED
        assert client.ask(QUESTION, method="pg-akv", max_calls=1).partial
        planned = client.ask(QUESTION, method="query", plan='MATCH (f {name: "Robert Stam"})-[:EMPLOYER]->(u) RETURN u')
        assert planned.answers and planned.usage.calls == 0


def test_a_question_that_follows_others_is_answered(mesh: Mesh) -> None:
    history = [("user", "Who directed the film Alexander?"), ("assistant", "Oliver Stone.")]
    with Client(mesh.address, kg="wikidata") as client:
        run = client.ask("And where did he study?", method="ger", history=history)
        assert "University Yale" in [a.answer for a in run.answers]
        with pytest.raises(ValueError, match="user or assistant"):
            client.ask(QUESTION, history=[("nobody", "?")])


def test_answers_are_marked_and_marks_are_listed_and_deleted(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        run = client.ask(QUESTION)
        fact = run.answers[0].evidence[0]
        given = client.create_feedback(
            run.id, right=[run.answers[0], fact], missing=["Tisch School of the Arts"], comment="from his page"
        )
        assert [f.judgement for f in given] == [Judgement.RIGHT, Judgement.RIGHT, Judgement.MISSING]
        changed = client.create_feedback(run.id, wrong=["new york university"])
        assert changed[0].id == given[0].id  # it replaces the first
        listed = list(client.list_feedback(run_id=run.id, page_size=2))
        assert sorted(f.judgement.value for f in listed) == ["missing", "right", "wrong"]
        assert {str(f.item) for f in listed if f.judgement is Judgement.RIGHT} == {str(fact)}
        assert all(f.question == QUESTION and f.run_id == run.id for f in listed)
        client.delete_feedback(changed[0].id)
        assert len(list(client.list_feedback(run_id=run.id, kg="wikidata", own=True))) == 2
        with pytest.raises(InvalidRequestError, match="New York University"):
            client.create_feedback(run.id, right=["Google"])


def test_a_text_is_checked_claim_by_claim(mesh: Mesh) -> None:
    text = "Robert Stam works at Google. Oliver Stone was born in New York City. Robert Stam collects stamps."
    with Client(mesh.address, kg="wikidata") as client:
        check = client.check(text)
    assert [c.verdict for c in check.claims] == [Verdict.CONTRADICTED, Verdict.SUPPORTED, Verdict.NOT_IN_KG]
    wrong = check.claims[0]
    assert "Google" in text[wrong.start : wrong.end]
    assert wrong.evidence[0].object == "New York University" and wrong.evidence[0].score is not None
    assert "New York University" in check.corrected_text
    assert check.corrections[0].before == "Google" and check.corrections[0].claim == wrong


def test_a_knowledge_graph_is_searched(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        hits = client.search("Robert Stam employer", limit=3)
        assert len(hits) == 3 and str(hits[0]) == "Robert Stam | employer | New York University"
        assert hits[0].score is not None and hits[2].score is not None and hits[0].score >= hits[2].score
        only = client.search("employer", limit=100, subjects=["Oliver Stone"], relations=["educated at"])
        assert only and {(t.subject, t.relation) for t in only} == {("Oliver Stone", "educated at")}
        graph = client.ground(QUESTION)
        assert graph.kg == "wikidata@1" and graph.subjects[0].name == "Robert Stam"
        assert "Robert Stam | employer | New York University" in map(str, graph.triples)
        link = client.link("robert stam")[0]
        assert (link.name, link.id) == ("Robert Stam", "Robert Stam")  # the sample has no ids
        around = client.list_neighbours("Oliver Stone", direction="out", limit=2)
        assert around.entity.name == "Oliver Stone" and len(around.triples) == 2 < around.total
        assert "educated at" in [r.name for r in around.relations]
        assert list(client.get_entities(["Robert Stam", "Nobody"])) == ["Robert Stam"]
        with pytest.raises(ValueError, match="out, in, both"):
            client.list_neighbours("Oliver Stone", direction="up")
        assert {"pg-akv", "ger", "io"} <= {m.name for m in client.list_methods()}


def test_a_knowledge_graph_is_loaded_with_progress_and_dropped(mesh: Mesh, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("title,directed by\nAlien,Ridley Scott\nBrazil,Terry Gilliam\n")
    satire = Triple('Brazil "7", or', "genre\n", "satire", since="1985")
    facts: list[Triple | tuple[str, str, str]] = [("Alien", "year", "1979"), satire]
    progress: list[LoadProgress] = []
    with Client(mesh.address, kg="wikidata") as client:
        result = client.load_kg(
            "films",
            table,
            ("more.tsv", b"Alien\tcast member\tSigourney Weaver\nbad line\n"),
            ("again.csv", lambda: open(table, "rb")),
            columns={"subject": "title"},
            provenance=True,
            on_progress=progress.append,
        )
        assert (result.snapshot.name, result.snapshot.active, result.snapshot.triples) == ("films", True, 5)
        assert result.bad_lines == 1 and result.duplicates == 2
        assert result.errors[0].startswith("more.tsv:2: ")
        assert progress and {p.phase for p in progress} <= {"read", "sort", "encode", "write"}
        added = client.load_kg("films", triples=facts, mode="add")
        assert added.snapshot.kg == "films@2" and added.bad_lines == 0
        assert [s.snapshot for s in client.list_kgs("films")] == [2, 1]
        alien = client.list_neighbours("Alien", kg="films").triples
        assert {(t.relation, t.object) for t in alien} == {
            ("directed by", "Ridley Scott"),
            ("cast member", "Sigourney Weaver"),
            ("year", "1979"),
            ("instance of", "film"),
        }
        assert any(t.provenance.endswith(".csv:2") for t in alien)
        assert any(t.since == "1985" for t in client.search("satire", kg="films"))
        with pytest.raises(ValueError, match="pass kg"), Client(mesh.address) as undecided:
            undecided.ask(QUESTION)
        assert client.rollback_kg("films").snapshot == 1
        assert client.activate_kg("films@2").active
        client.drop_kg("films")
        assert {s.name for s in client.list_kgs()} == {"wikidata"}
        with pytest.raises(ValueError, match="give a file"):
            client.load_kg("films")
        with pytest.raises(ValueError, match="use subject"):
            client.load_kg("films", table, columns={"title": "subject"})
        with pytest.raises(ValueError, match="'integer' does not exist; use one of entity, number, date, text, skip"):
            client.load_kg("films", table, types={"directed by": "integer"})
        with pytest.raises(ValueError, match="triple 0"):
            client.load_kg("films", triples=["abc"])
        with pytest.raises(ValueError, match="replace, add, remove"):
            client.load_kg("films", table, mode="merge")


def test_columns_of_a_table_have_the_types_that_are_asked_for(mesh: Mesh) -> None:
    table = ("rooms.csv", b"room,floor,note\nA1,2,x\nB1,ground,y\n")
    with Client(mesh.address) as client:
        types = {"floor": "number", "note": "skip"}
        result = client.load_kg("rooms", table, columns={"subject": "room"}, types=types, vectors=False)
        assert result.bad_lines == 1 and "ground" in result.errors[0]
        facts = {(t.relation, t.object) for t in client.list_neighbours("A1", kg="rooms").triples}
        assert ("floor", "2") in facts and not any(relation == "note" for relation, _ in facts)
        client.drop_kg("rooms")


def test_columns_refer_to_rows_by_their_codes(mesh: Mesh) -> None:
    table = ("staff.csv", b"id,name,manager_id\n1,Ann,\n2,Bob,1\n")
    with Client(mesh.address) as client:
        types = {"id": "entity:person", "manager_id": "entity:person"}
        columns = {"subject": "id", "name": "name"}
        client.load_kg("staff", table, columns=columns, types=types, vectors=False)
        facts = {(t.relation, t.object) for t in client.list_neighbours("Bob", kg="staff").triples}
        assert ("manager", "Ann") in facts
        client.drop_kg("staff")


def test_a_load_reads_files_larger_than_a_message(mesh: Mesh) -> None:
    lines = b"".join(b"entity %d\trelation\tvalue %d\n" % (n % 500, n % 500) for n in range(100_000))
    with Client(mesh.address) as client:
        result = client.load_kg("large", ("large.tsv", lines), vectors=False, activate=False)
        assert (result.lines, result.snapshot.triples, result.snapshot.active) == (100_000, 500, False)
        client.drop_kg("large")


def test_a_missing_file_ends_a_load(mesh: Mesh, tmp_path: Path) -> None:
    with Client(mesh.address) as client:
        with pytest.raises(FileNotFoundError, match="nowhere.tsv"):
            client.load_kg("films", tmp_path / "nowhere.tsv")
        assert {s.name for s in client.list_kgs()} == {"wikidata"}


def test_runs_are_listed_page_by_page_and_read_back(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        asked = [client.ask(QUESTION).id for _ in range(3)]
        assert [r.id for r, _ in zip(client.list_runs(page_size=1), range(3))] == asked[::-1]
        assert client.get_run(asked[0]).message.pg_akv.hits
        assert not list(client.list_runs(query="words that nobody asked"))


def test_errors_have_code_reason_and_advice(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        calls: dict[type[MeshError], tuple[str, str, Callable[[], object]]] = {
            NotFoundError: ("NOT_FOUND", "NOT_FOUND", lambda: client.ask(QUESTION, kg="nowhere")),
            InvalidRequestError: ("INVALID_ARGUMENT", "INVALID_REQUEST", lambda: client.ask("")),
            DeadlineError: ("DEADLINE_EXCEEDED", "", lambda: client.ask(QUESTION, timeout=0.001)),
        }
        for kind, (code, reason, call) in calls.items():
            with pytest.raises(kind) as caught:
                call()
            error = caught.value
            assert error.code == code and error.message and str(error).startswith(f"{code}: ")
            assert error.reason in (reason, "DEADLINE_EXCEEDED", "NO_TIME_LEFT")
            if kind is InvalidRequestError:
                assert [v.field for v in error.violations] == ["question"] and error.request_id
        with pytest.raises(NotFoundError):
            list(client.ask_stream(QUESTION, kg="nowhere"))
        with pytest.raises(ValueError, match="NAME@NUMBER"):
            client.ask(QUESTION, kg="wikidata@x")


def test_no_server_is_unavailable_and_the_error_says_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with Client(address, retry=Retry(attempts=2, initial=0.001)) as client:
            with pytest.raises(UnavailableError, match="triplemesh up") as caught:
                client.ask(QUESTION, kg="wikidata")
    assert caught.value.code == "UNAVAILABLE" and caught.value.advice in str(caught.value)
    assert "9080 is HTTP" in caught.value.advice


def test_a_token_is_sent_over_tls(closed: Mesh) -> None:
    with Client(closed.address, ca=closed.ca, token=closed.token) as client:
        assert client.ask(QUESTION).grounding is Grounding.GROUNDED
    with Client(closed.address, ca=closed.ca) as client, pytest.raises(AccessError, match="UNAUTHENTICATED") as caught:
        client.ask(QUESTION, kg="wikidata")
    assert caught.value.reason == "TOKEN_MISSING" and caught.value.advice.startswith("send a token")
    with Client(closed.address, ca=closed.ca, token=closed.token) as client, pytest.raises(AccessError) as caught:
        client.drop_kg("wikidata")
    assert caught.value.reason == "SCOPE_MISSING"
    with Client(closed.address, tls=True, retry=Retry(attempts=1)) as client, pytest.raises(UnavailableError):
        client.ask(QUESTION, kg="wikidata")  # no authority of this machine signed its certificate
    with Client(closed.address, ca=closed.ca, token=closed.token + "\n") as client:
        assert client.ask(QUESTION).answers


def test_a_token_is_not_sent_in_plaintext_to_another_machine() -> None:
    with pytest.raises(ValueError, match="insecure_token"):
        Client("mesh.example.org:9090", token="secret")
    Client("mesh.example.org:9090", token="secret", insecure_token=True).close()


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://127.0.0.1:9080", "is a URL"),
        ("HTTPS://mesh.example.org", "is a URL"),
        ("127.0.0.1", "127.0.0.1:9090"),
        ("mesh.example.org", "mesh.example.org:9090"),
        ("", "127.0.0.1:9090"),
    ],
)
def test_an_address_that_is_none_is_refused_with_what_to_write(address: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Client(address)


@pytest.mark.parametrize("address", ["localhost:9090", "[::1]:9090", "dns:///mesh.example.org:9090", "unix:/run/mesh"])
def test_every_address_of_grpc_is_taken(address: str) -> None:
    Client(address).close()


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("127.0.0.1:1", True), ("[::1]:1", True), ("localhost:1", True), ("10.0.0.1:1", False), ("a.org:1", False)],
)
def test_loopback_addresses_are_recognised(address: str, loopback: bool) -> None:
    assert is_loopback(address) is loopback
