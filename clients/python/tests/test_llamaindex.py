from __future__ import annotations

from conftest import Mesh
from llama_index.core.tools import QueryEngineTool

from triplemesh import AsyncClient, Client
from triplemesh.llamaindex import TriplemeshQueryEngine

QUESTION = "What institution employed Robert Stam?"


async def test_a_query_is_answered_with_its_source_nodes(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        async with AsyncClient(mesh.address, kg="wikidata") as aclient:
            response = TriplemeshQueryEngine(client).query(QUESTION)
            assert "New York University" in str(response)
            assert [n.text for n in response.source_nodes] == ["Robert Stam | employer | New York University"]
            assert response.source_nodes[0].metadata["object_id"] == "New York University"
            assert response.metadata is not None and response.metadata["grounding"] == "grounded"
            assert client.get_run(response.metadata["run_id"]).question == QUESTION
            for engine in (TriplemeshQueryEngine(client), TriplemeshQueryEngine(client, aclient=aclient)):
                assert str(await engine.aquery(QUESTION)) == str(response)


def test_options_reach_the_mesh_and_abstentions_have_no_nodes(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        response = TriplemeshQueryEngine(client, abstain_below=1).query(QUESTION)
        assert response.metadata is not None and response.metadata["grounding"] == "abstained"
        assert not response.source_nodes


async def test_it_is_a_tool_of_an_agent(mesh: Mesh) -> None:
    with Client(mesh.address, kg="wikidata") as client:
        tool = QueryEngineTool.from_defaults(TriplemeshQueryEngine(client), name="facts", description="facts")
        assert "New York University" in (await tool.acall(QUESTION)).content
