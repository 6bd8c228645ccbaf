"""LangChain retriever: pip install triplemesh[langchain].

    from triplemesh import Client
    from triplemesh.langchain import TriplemeshRetriever

    retriever = TriplemeshRetriever(client=Client(kg="wikidata"), k=5)
    documents = retriever.invoke("What institution employed Robert Stam?")
"""

from __future__ import annotations

import asyncio
from typing import Any, Literal

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}; pip install triplemesh[langchain]", name=error.name) from error

from .aio import AsyncClient
from .client import Client
from .values import Run, Triple

__all__ = ["TriplemeshRetriever"]


class TriplemeshRetriever(BaseRetriever):
    """Returns the triples of a knowledge graph that are evidence for a question, one a document.

    source determines them: "ground", the subjects that fit the question, with their facts, best
    score first; "search", the triples nearest in meaning; "ask", the evidence of the mesh's own
    answer, which calls its language model. aclient serves asynchronous calls; without it, they run
    client in a thread.
    """

    client: Client
    aclient: AsyncClient | None = None
    kg: str | None = None
    """The knowledge graph; None means the client's."""
    k: int = 10
    """Maximum number of documents."""
    source: Literal["ground", "search", "ask"] = "ground"
    method: str = ""
    """The method of source "ask"."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **_: Any
    ) -> list[Document]:
        limit = self.k if k is None else k
        if self.source == "search":
            return _make_documents(self.client.search(query, limit=limit, kg=self.kg), limit)
        if self.source == "ask":
            return _make_answer_documents(self.client.ask(query, method=self.method, kg=self.kg), limit)
        return _make_documents(_rank(self.client.ground(query, kg=self.kg).triples), limit)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, k: int | None = None, **_: Any
    ) -> list[Document]:
        if self.aclient is None:
            return await asyncio.to_thread(
                self._get_relevant_documents, query, run_manager=run_manager.get_sync(), k=k
            )
        limit = self.k if k is None else k
        if self.source == "search":
            return _make_documents(await self.aclient.search(query, limit=limit, kg=self.kg), limit)
        if self.source == "ask":
            return _make_answer_documents(await self.aclient.ask(query, method=self.method, kg=self.kg), limit)
        return _make_documents(_rank((await self.aclient.ground(query, kg=self.kg)).triples), limit)


def _rank(triples: tuple[Triple, ...]) -> list[Triple]:
    return sorted(triples, key=lambda t: t.score or 0, reverse=True)


def _make_answer_documents(run: Run, limit: int) -> list[Document]:
    documents = []
    for answer in run.answers:
        for document in _make_documents(answer.evidence, limit):
            document.metadata |= {"answer": answer.answer, "run_id": run.id, "grounding": run.grounding.value}
            documents.append(document)
    return documents[:limit]


def _make_documents(triples: list[Triple] | tuple[Triple, ...], limit: int) -> list[Document]:
    return [Document(page_content=_phrase(t), metadata=_describe(t)) for t in triples[:limit]]


def _phrase(t: Triple) -> str:
    dates = f" ({t.since or '?'} to {t.until or '?'})" if t.since or t.until else ""
    return f"{t.subject} | {t.relation} | {t.object}{dates}"


def _describe(t: Triple) -> dict[str, Any]:
    fields = {
        "subject": t.subject,
        "relation": t.relation,
        "object": t.object,
        "subject_id": t.subject_id,
        "object_id": t.object_id,
        "since": t.since,
        "until": t.until,
        "source": t.provenance,
        "kg": t.kg,
        "score": t.score,
    }
    return {key: value for key, value in fields.items() if value not in ("", None)}
