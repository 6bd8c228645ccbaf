"""Neo4j: the same plans as parameterised Cypher, one statement a plan.

A request {"open": FILE, "uri": URI} loads triples, tab-separated and gzipped,
unless as many are there already; {"walk": FILE, "repeat": R} walks the plans as
walk.py does. NEO4J_USER and NEO4J_PASSWORD are read from the environment."""

import gzip
import json
import os

import neo4j

from peer import serve, timed

driver = None
BATCH = 5000


def handle(request):
    global driver
    if "open" in request:
        password = os.environ.get("NEO4J_PASSWORD")
        auth = (os.environ.get("NEO4J_USER", "neo4j"), password) if password else None
        driver = neo4j.GraphDatabase.driver(request["uri"], auth=auth, notifications_min_severity="OFF")
        took, edges = timed(lambda: load(request["open"]), 1)
        return {"ms": took, "edges": edges, "version": driver.get_server_info().agent}
    questions = {}
    with open(request["walk"], encoding="utf-8") as file:
        for line in file:
            plan = json.loads(line)
            questions.setdefault(plan["question"], []).append(plan)
    best = []
    walks = 0
    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
        for plans in questions.values():
            took, found = timed(lambda: sum(walk(session, p) for p in plans), request["repeat"])
            best.append(min(took))
            walks += found
    return {"ms": best, "walks": walks}


def load(path):
    relations = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            subject, relation, obj = line.rstrip("\n").split("\t")[:3]
            relations.setdefault(relation, []).append([subject, obj])
    edges = sum(len(pairs) for pairs in relations.values())
    with driver.session() as session:
        if session.run("MATCH ()-[r]->() RETURN count(r) AS n").single()["n"] == edges:
            return edges
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()
        session.run("CREATE CONSTRAINT entity IF NOT EXISTS FOR (e:Entity) REQUIRE e.name IS UNIQUE").consume()
        names = sorted({name for pairs in relations.values() for pair in pairs for name in pair})
        for at in range(0, len(names), BATCH):
            session.run("UNWIND $names AS name CREATE (:Entity {name: name})", names=names[at : at + BATCH]).consume()
        for relation, pairs in relations.items():
            for at in range(0, len(pairs), BATCH):
                session.run(
                    "UNWIND $pairs AS pair MATCH (s:Entity {name: pair[0]}) MATCH (o:Entity {name: pair[1]}) "
                    f"CREATE (s)-[:{quoted(relation)}]->(o)",
                    pairs=pairs[at : at + BATCH],
                ).consume()
    return edges


def quoted(name):
    """A relationship type cannot be a parameter; a backtick in it is doubled."""
    return "`" + name.replace("`", "``") + "`"


def walk(session, plan):
    # Relations are relationship types, which Neo4j finds fastest; the driver
    # and the server keep the compiled statement from one call to the next.
    hops = "".join(f"-[:{quoted(relation)}]-(n{i})" for i, relation in enumerate(plan["relations"]))
    ends = ", ".join(f"n{i}.name" for i in range(len(plan["relations"])))
    return len(list(session.run(f"MATCH (t:Entity {{name: $topic}}){hops} RETURN {ends}", topic=plan["topic"])))


serve(handle)
