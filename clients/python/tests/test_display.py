from __future__ import annotations

from html.parser import HTMLParser

from conftest import Mesh

from triplemesh import Client, Triple
from triplemesh._convert import parse_run
from triplemesh.display import MAX_EDGES, MAX_ROWS, render_graph, render_triples
from triplemesh.graph.v1 import graph_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb

HOSTILE = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


class Elements(HTMLParser):
    """Collects the elements of a page and their attributes, and checks that they are closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(html)
        assert not self.open, self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    @property
    def tags(self) -> set[str]:
        return {tag for tag, _ in self.found}


def test_an_answer_a_check_and_a_neighbourhood_are_shown(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        run = client.ask("What institution employed Robert Stam?")
        check = client.check("Robert Stam works at Google.")
        html = run._repr_html_()
        assert {"table", "svg", "b"} <= Elements(html).tags
        assert run.text in html and "grounded" in html and html.count("New York University") >= 3
        assert "contradicted" in check._repr_html_() and check.corrected_text in check._repr_html_()
        assert Elements(check._repr_html_()).tags
        assert "Oliver Stone" in client.list_neighbours("Oliver Stone")._repr_html_()
        assert "Robert Stam" in client.ground("What institution employed Robert Stam?")._repr_html_()


def test_hostile_text_stays_text() -> None:
    triple = graph_pb2.Triple(
        subject=HOSTILE, relation=HOSTILE, object=HOSTILE, subject_id="javascript:alert(1)",
        object_id='https://example.org/"onclick="alert(1)', provenance=HOSTILE,
    )  # fmt: skip
    answer = pb.Answer(answer=HOSTILE, id=HOSTILE, evidence=[triple])
    run = parse_run(pb.Run(text=HOSTILE, grounding_reason=HOSTILE, method=HOSTILE, answers=[answer]))
    page = Elements(run._repr_html_())
    assert not page.tags & {"script", "img"}
    for tag, attributes in page.found:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert not (attributes.get("href") or "https").startswith("javascript"), attributes
    assert {a["href"] for tag, a in page.found if tag == "a"} == {'https://example.org/"onclick="alert(1)'}


def test_a_graph_with_loops_and_parallel_edges_is_drawn() -> None:
    triples = [Triple("a", "r", "a"), Triple("a", "r", "b"), Triple("b", "s", "a"), Triple("c", "t", "d")]
    svg = Elements(render_graph(triples))
    assert [tag for tag, _ in svg.found].count("rect") == 4
    assert [tag for tag, _ in svg.found].count("path") == 4


def test_what_does_not_fit_is_counted() -> None:
    html = render_triples(Triple("subject", "relation", f"object {n}", score=0.5) for n in range(MAX_ROWS + 7))
    assert "and 7 more" in html and f"graph of {MAX_EDGES} triples" in html and "0.500" in html
    assert render_triples([]) == "<p>no triples</p>"
