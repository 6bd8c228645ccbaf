"""Client of triplemesh: answers from knowledge graphs, with the triples they rest on.

    from triplemesh import Client

    with Client("127.0.0.1:9090") as mesh:
        run = mesh.ask("What institution employed Robert Stam?", kg="wikidata")
        print(run.text, run.grounding)
"""

from . import values
from ._retry import Retry
from ._version import __version__
from .aio import AsyncClient
from .client import Client
from .exceptions import (
    AccessError,
    DeadlineError,
    ExhaustedError,
    InvalidRequestError,
    MeshError,
    NotFoundError,
    UnavailableError,
    Violation,
)
from .values import *  # noqa: F403

__all__ = [
    "AccessError",
    "AsyncClient",
    "Client",
    "DeadlineError",
    "ExhaustedError",
    "InvalidRequestError",
    "MeshError",
    "NotFoundError",
    "Retry",
    "UnavailableError",
    "Violation",
    "__version__",
    *values.__all__,
]
