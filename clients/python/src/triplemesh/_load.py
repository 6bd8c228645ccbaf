"""The requests of a load."""

from __future__ import annotations

import csv
import io
from asyncio import to_thread
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Union

from triplemesh.retriever.v1 import knowledge_graph_pb2

from . import _convert as convert
from .values import Triple

CHUNK = 1 << 20
"""Bytes; the limit of the contract."""

Source = Union[str, Path, tuple[str, Union[bytes, Callable[[], BinaryIO]]]]
"""A file, or a name, which determines the format, with bytes or a function that opens a stream."""
Facts = Iterable[Union[Triple, Sequence[str]]]


def write_facts(facts: Facts) -> Source:
    """Writes triples, or sequences of subject, relation and object, as a CSV file."""
    text = io.StringIO(newline="")
    rows = csv.writer(text)
    rows.writerow(("subject", "relation", "object", "start", "end"))
    for n, fact in enumerate(facts):
        if isinstance(fact, Triple):
            rows.writerow((fact.subject, fact.relation, fact.object, fact.since, fact.until))
        elif len(fact) == 3 and not isinstance(fact, str):
            rows.writerow((*fact, "", ""))
        else:
            raise ValueError(f"triple {n}: {fact!r}; give a Triple or (subject, relation, object)")
    return "triples.csv", text.getvalue().encode()


ROLES = ("subject", "relation", "object", "start", "end", "separator", "rows", "name")
"""Fields of Columns that are texts."""
FACT_COLUMNS = {role: role for role in ("subject", "relation", "object", "start", "end")}


def make_columns(
    columns: Mapping[str, str] | None, types: Mapping[str, str] | None = None
) -> knowledge_graph_pb2.Columns:
    """Returns the columns of a table: headings by role, and types by heading."""
    if unknown := set(columns or ()).difference(ROLES):
        raise ValueError(f"columns {', '.join(sorted(unknown))} do not exist; use {', '.join(ROLES)}")
    message = knowledge_graph_pb2.Columns()
    for role, heading in (columns or {}).items():
        setattr(message, role, heading)
    for heading, kind in (types or {}).items():
        kind, _, reference = kind.partition(":")
        of = convert.make_enum(kind, "COLUMN_TYPE", knowledge_graph_pb2.ColumnType)
        message.types.add(heading=heading, type=of, reference=reference)
    return message


def open_source(source: Source) -> tuple[str, BinaryIO]:
    """Opens a source; returns its name and its bytes."""
    if not isinstance(source, tuple):
        return Path(source).name, open(source, "rb")
    name, content = source
    return name, io.BytesIO(content) if isinstance(content, bytes) else content()


def make_requests(
    header: knowledge_graph_pb2.LoadHeader,
    files: Sequence[tuple[Source, knowledge_graph_pb2.Columns]],
    failures: list[OSError],
) -> Generator[knowledge_graph_pb2.LoadKnowledgeGraphStreamRequest, None, None]:
    """Yields the requests of a load, reading the files as they are sent. gRPC hides errors of its
    requests: those of reading are added to failures."""

    def wrap(
        request: knowledge_graph_pb2.LoadKnowledgeGraphRequest,
    ) -> knowledge_graph_pb2.LoadKnowledgeGraphStreamRequest:
        return knowledge_graph_pb2.LoadKnowledgeGraphStreamRequest(request=request)

    yield wrap(knowledge_graph_pb2.LoadKnowledgeGraphRequest(header=header))
    try:
        for source, columns in files:
            name, stream = open_source(source)
            with closing(stream):
                file = knowledge_graph_pb2.FileHeader(name=name)
                if columns.ByteSize() and ".csv" in Path(name).suffixes:
                    file.columns.CopyFrom(columns)
                yield wrap(knowledge_graph_pb2.LoadKnowledgeGraphRequest(file=file))
                while chunk := stream.read(CHUNK):
                    yield wrap(knowledge_graph_pb2.LoadKnowledgeGraphRequest(chunk=chunk))
    except OSError as failure:
        failures.append(failure)
        raise


async def make_async_requests(
    header: knowledge_graph_pb2.LoadHeader,
    files: Sequence[tuple[Source, knowledge_graph_pb2.Columns]],
    failures: list[OSError],
) -> AsyncIterator[knowledge_graph_pb2.LoadKnowledgeGraphStreamRequest]:
    """Is make_requests with reads that do not block the event loop."""
    requests = make_requests(header, files, failures)
    try:
        while (request := await to_thread(next, requests, None)) is not None:
            yield request
    finally:
        requests.close()
