"""A client of triplemesh: questions answered from knowledge graphs, with the
triples that each answer rests on.

    from triplemesh_client import Client

    with Client("127.0.0.1:9090") as mesh:
        run = mesh.ask("What institution employed Robert Stam?", kg="wikidata")
        print(run.text, run.grounding)
"""

from importlib.util import find_spec

if find_spec("triplemesh") is None:
    raise ModuleNotFoundError(
        "there is no package triplemesh: python generate.py, in examples/python, makes it out of the protos",
        name="triplemesh",
    )

from .client import Client
from .errors import MeshError
from .values import (
    Answer,
    Check,
    Claim,
    Correction,
    Delta,
    Entity,
    Event,
    Grounding,
    KnowledgeGraph,
    Method,
    Restarted,
    Run,
    StageFinished,
    StageStarted,
    Triple,
    Usage,
    Verdict,
)

__all__ = [
    "Answer",
    "Check",
    "Claim",
    "Client",
    "Correction",
    "Delta",
    "Entity",
    "Event",
    "Grounding",
    "KnowledgeGraph",
    "MeshError",
    "Method",
    "Restarted",
    "Run",
    "StageFinished",
    "StageStarted",
    "Triple",
    "Usage",
    "Verdict",
]
