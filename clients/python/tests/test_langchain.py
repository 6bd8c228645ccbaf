from __future__ import annotations

from typing import Any

import pytest
from conftest import Mesh
from langchain_core.documents import Document
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests

from triplemesh import AsyncClient, Client
from triplemesh.langchain import TriplemeshRetriever

QUESTION = "What institution employed Robert Stam?"


class TestStandard(RetrieversIntegrationTests):
    """The conformance tests of LangChain."""

    @pytest.fixture(autouse=True)
    def connect(self, mesh: Mesh) -> None:
        self.address = mesh.address

    @property
    def retriever_constructor(self) -> type[TriplemeshRetriever]:
        return TriplemeshRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": Client(self.address, kg="wikidata"), "source": "search"}

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


@pytest.mark.parametrize("source", ["ground", "search", "ask"])
async def test_each_source_finds_the_evidence(mesh: Mesh, source: Any) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        async with AsyncClient(mesh.address) as aclient:
            alone = TriplemeshRetriever(client=client, source=source, kg="wikidata", k=3)
            both = TriplemeshRetriever(client=client, aclient=aclient, source=source, kg="wikidata", k=3)
            found = alone.invoke(QUESTION)
            assert 0 < len(found) <= 3
            assert found[0].page_content == "Robert Stam | employer | New York University"
            assert found[0].metadata["object_id"] == "New York University"
            if source == "ask":
                assert found[0].metadata["answer"] == "New York University"
                assert found[0].metadata["grounding"] == "grounded"
            else:
                assert found[0].metadata["score"] >= found[-1].metadata["score"]
            for retriever in (alone, both):
                again = await retriever.ainvoke(QUESTION)
                assert [d.page_content for d in again] == [d.page_content for d in found]


def test_it_composes_in_a_chain(mesh: Mesh) -> None:
    def join(documents: list[Document]) -> str:
        return "\n".join(d.page_content for d in documents)

    with Client(mesh.address, kg="wikidata") as client:
        chain = TriplemeshRetriever(client=client, k=2) | RunnableLambda(join)
        assert "Robert Stam | employer | New York University" in chain.invoke(QUESTION)
