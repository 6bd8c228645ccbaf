"""NetworkX, walked the way RoG's published code does it: one undirected graph
with the relation on each edge, and for every plan a breadth-first search from
the topic entity that looks at all neighbours and keeps those whose edge has the
plan's next relation.

A request {"open": FILE} reads triples, tab-separated and gzipped; {"walk": FILE,
"repeat": R} walks the plans of FILE, one JSON {"question": ..., "topic": ...,
"relations": [...]} a line; all plans of a question are timed together. A
relation is followed either way, as RoG's undirected graph does."""

import gzip
import json
from collections import deque

import networkx

from peer import serve, timed

graph = networkx.Graph()


def handle(request):
    if "open" in request:
        took, _ = timed(lambda: read(request["open"]), 1)
        return {"ms": took, "edges": graph.number_of_edges(), "version": networkx.__version__}
    questions = {}
    with open(request["walk"], encoding="utf-8") as file:
        for line in file:
            plan = json.loads(line)
            questions.setdefault(plan["question"], []).append(plan)
    best = []
    ends = 0
    for plans in questions.values():
        took, found = timed(lambda: [walk(p["topic"], p["relations"]) for p in plans], request["repeat"])
        best.append(min(took))
        ends += sum(len(f) for f in found)
    return {"ms": best, "walks": ends}


def read(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            subject, relation, obj = line.rstrip("\n").split("\t")[:3]
            graph.add_edge(subject, obj, relation=relation)


def walk(topic, relations):
    if topic not in graph:
        return []
    found = []
    queue = deque([(topic, [])])
    while queue:
        node, path = queue.popleft()
        if len(path) == len(relations):
            found.append(path)
            continue
        wanted = relations[len(path)]
        for neighbour in graph.neighbors(node):
            if graph[node][neighbour]["relation"] == wanted:
                queue.append((neighbour, path + [(node, wanted, neighbour)]))
    return found


serve(handle)
