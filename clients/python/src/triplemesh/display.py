"""HTML of results, for notebooks.

Names, texts and ids come from models and files: everything is escaped, and only http and https
ids become links. There are no scripts, styles of other elements or external resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .values import Check, Run, Triple

MAX_ROWS = 50
MAX_EDGES = 24
"""More are not legible."""

# Geometry of the graph in pixels.
_COLUMN, _ROW, _WIDTH, _HEIGHT, _MARGIN = 300, 52, 170, 28, 10
_LABEL = 24
"""Characters of a label; its title has all."""


def render_run(run: Run) -> str:
    """Renders an answer: its text, what it rests on, and its evidence as table and graph."""
    confidence = "" if run.confidence is None else f", confidence {run.confidence:.2f}"
    evidence = [t for answer in run.answers for t in answer.evidence]
    answers = "".join(f"<li>{_render_entity(a.answer, a.id)}</li>" for a in run.answers)
    return (
        f"<div><p><b>{escape(run.text)}</b></p><p>{escape(run.grounding.value)}{confidence}: "
        f"{escape(run.grounding_reason)} ({escape(run.method)}, {escape(run.kg) or 'no knowledge graph'})</p>"
        f"<ul>{answers}</ul>{render_triples(evidence)}</div>"
    )


def render_check(check: Check) -> str:
    """Renders the claims of a text with their verdicts and evidence, and the corrected text."""
    rows = "".join(
        f"<tr><td>{escape(c.verdict.value.replace('_', ' '))}</td><td>{c.confidence:.2f}</td>"
        f"<td>{escape(str(c.triple))}</td><td>{'<br>'.join(escape(str(t)) for t in c.evidence[:3])}</td></tr>"
        for c in check.claims
    )
    corrected = f"<p>{escape(check.corrected_text)}</p>" if check.corrections else ""
    return f"<div>{_render_table(('verdict', 'confidence', 'claim', 'evidence'), rows)}{corrected}</div>"


def render_triples(triples: Iterable[Triple]) -> str:
    """Renders triples as a graph and a table."""
    distinct = list(dict.fromkeys(triples))
    if not distinct:
        return "<p>no triples</p>"
    has_score = any(t.score is not None for t in distinct)
    has_source = any(t.provenance for t in distinct)
    rows = "".join(
        f"<tr><td>{_render_entity(t.subject, t.subject_id)}</td><td>{escape(t.relation)}</td>"
        f"<td>{_render_entity(t.object, t.object_id)}</td>"
        + (f"<td>{'' if t.score is None else format(t.score, '.3f')}</td>" if has_score else "")
        + (f"<td>{escape(t.provenance)}</td>" if has_source else "")
        + "</tr>"
        for t in distinct[:MAX_ROWS]
    )
    heads = ("subject", "relation", "object", *(("score",) if has_score else ()), *(("source",) if has_source else ()))
    more = f"<p>and {len(distinct) - MAX_ROWS} more</p>" if len(distinct) > MAX_ROWS else ""
    return render_graph(distinct[:MAX_EDGES]) + _render_table(heads, rows) + more


def render_graph(triples: Sequence[Triple]) -> str:
    """Draws triples as an SVG: entities in columns by their distance from the first subject."""
    labels: dict[str, str] = {}
    edges: list[tuple[str, str, str]] = []
    for t in triples:
        subject, object = t.subject_id or t.subject, t.object_id or t.object
        labels.setdefault(subject, t.subject)
        labels.setdefault(object, t.object)
        edges.append((subject, object, t.relation))
    places = _place_nodes(list(labels), edges)
    width = (max(x for x, _ in places.values()) + 1) * _COLUMN - (_COLUMN - _WIDTH) + 2 * _MARGIN
    height = (max(y for _, y in places.values()) + 1) * _ROW + 2 * _MARGIN
    parts = [_draw_edge(places[s], places[o], relation) for s, o, relation in edges]
    parts += [_draw_node(places[key], label) for key, label in labels.items()]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="graph of {len(triples)} triples" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def _place_nodes(nodes: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> dict[str, tuple[int, int]]:
    """Assigns a column and a row to each node: breadth-first from each node not yet reached."""
    adjacent: dict[str, list[str]] = {node: [] for node in nodes}
    for subject, object, _ in edges:
        adjacent[subject].append(object)
        adjacent[object].append(subject)
    places: dict[str, tuple[int, int]] = {}
    rows: dict[int, int] = {}
    for root in nodes:
        if root in places:
            continue
        level, column = [root], 0
        while level:
            for node in level:
                places[node] = (column, rows.get(column, 0))
                rows[column] = rows.get(column, 0) + 1
            level = list(dict.fromkeys(n for node in level for n in adjacent[node] if n not in places))
            column += 1
    return places


def _draw_node(place: tuple[int, int], label: str) -> str:
    x, y = place[0] * _COLUMN + _MARGIN, place[1] * _ROW + _MARGIN
    return (
        f"<g><title>{escape(label)}</title>"
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="none" stroke="currentColor"/>'
        f'<text x="{x + _WIDTH / 2}" y="{y + 18}" text-anchor="middle">{escape(_shorten(label))}</text></g>'
    )


def _draw_edge(start: tuple[int, int], end: tuple[int, int], relation: str) -> str:
    """Draws an arrow; from a column to itself or to a lower one it leaves on the left."""
    forward = start[0] < end[0]
    x1 = start[0] * _COLUMN + _MARGIN + (_WIDTH if forward else 0)
    x2 = end[0] * _COLUMN + _MARGIN + (0 if start[0] <= end[0] else _WIDTH)
    y1, y2 = (place[1] * _ROW + _MARGIN + _HEIGHT / 2 for place in (start, end))
    tip = 6 if x2 >= x1 else -6
    return (
        f'<g><title>{escape(relation)}</title><path d="M{x1} {y1}L{x2} {y2}" stroke="currentColor" '
        f'stroke-opacity=".5"/><circle cx="{x2 - tip / 2}" cy="{y2}" r="3"/>'
        f'<text x="{(x1 + x2) / 2}" y="{(y1 + y2) / 2 - 4}" text-anchor="middle" font-size="10">'
        f"{escape(_shorten(relation))}</text></g>"
    )


def _render_table(heads: Sequence[str], rows: str) -> str:
    return f"<table><thead><tr>{''.join(f'<th>{h}</th>' for h in heads)}</tr></thead><tbody>{rows}</tbody></table>"


def _render_entity(name: str, id: str) -> str:
    if id.startswith(("https://", "http://")):
        return f'<a href="{escape(id)}" rel="noopener noreferrer" target="_blank">{escape(name)}</a>'
    return escape(name) + (f" <small>({escape(id)})</small>" if id not in ("", name) else "")


def _shorten(label: str) -> str:
    return label if len(label) <= _LABEL else label[: _LABEL - 1] + "…"
