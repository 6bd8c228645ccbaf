"""LlamaIndex query engine: pip install triplemesh[llamaindex].

    from triplemesh import Client
    from triplemesh.llamaindex import TriplemeshQueryEngine

    engine = TriplemeshQueryEngine(Client(kg="wikidata"))
    response = engine.query("What institution employed Robert Stam?")
    print(response, response.source_nodes)
"""

from __future__ import annotations

import asyncio
from typing import Any

try:
    from llama_index.core.base.base_query_engine import BaseQueryEngine
    from llama_index.core.base.response.schema import Response
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.prompts.mixin import PromptMixinType
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}; pip install triplemesh[llamaindex]", name=error.name) from error

from .aio import AsyncClient
from .client import Client
from .values import Run

__all__ = ["TriplemeshQueryEngine"]


class TriplemeshQueryEngine(BaseQueryEngine):
    """Answers by a mesh. The source nodes of a response are the triples that the answers rest on;
    its metadata say what they are worth: grounding, confidence, run_id.

    options are arguments of Client.ask, such as method or abstain_below. aclient serves
    asynchronous queries; without it, they run client in a thread.
    """

    def __init__(
        self,
        client: Client,
        *,
        aclient: AsyncClient | None = None,
        callback_manager: CallbackManager | None = None,
        **options: Any,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._client = client
        self._aclient = aclient
        self._options = options

    def _query(self, query_bundle: QueryBundle) -> Response:
        return _make_response(self._client.ask(query_bundle.query_str, **self._options))

    async def _aquery(self, query_bundle: QueryBundle) -> Response:
        if self._aclient is None:
            return await asyncio.to_thread(self._query, query_bundle)
        return _make_response(await self._aclient.ask(query_bundle.query_str, **self._options))

    def _get_prompt_modules(self) -> PromptMixinType:
        return {}  # the prompts are the mesh's


def _make_response(run: Run) -> Response:
    nodes: dict[str, NodeWithScore] = {}
    for answer in run.answers:
        for t in answer.evidence:
            metadata = {
                "answer": answer.answer,
                "subject_id": t.subject_id,
                "object_id": t.object_id,
                "source": t.provenance,
                "kg": t.kg or run.kg,
            }
            text = str(t)
            # The score is that of the answer: evidence has none of its own.
            nodes.setdefault(text, NodeWithScore(node=TextNode(text=text, metadata=metadata), score=run.confidence))
    return Response(
        response=run.text,
        source_nodes=list(nodes.values()),
        metadata={
            "run_id": run.id,
            "answers": [answer.answer for answer in run.answers],
            "grounding": run.grounding.value,
            "grounding_reason": run.grounding_reason,
            "confidence": run.confidence,
            "kg": run.kg,
        },
    )
