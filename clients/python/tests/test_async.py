from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest
import unasync
from conftest import Mesh

from triplemesh import AsyncClient, Client, Delta, NotFoundError, Run, StageStarted

QUESTION = "What institution employed Robert Stam?"


async def test_questions_are_answered_concurrently(mesh: Mesh) -> None:
    async with AsyncClient(mesh.address, kg="wikidata") as client:
        runs = await asyncio.gather(*(client.ask(QUESTION) for _ in range(4)))
        assert len({run.id for run in runs}) == 4
        assert all(run.answers[0].answer == "New York University" for run in runs)
        assert [run.id async for run in client.list_runs(page_size=1)]
        with pytest.raises(NotFoundError):
            await client.ask(QUESTION, kg="nowhere")


async def test_a_stream_reports_events_and_can_be_closed(mesh: Mesh) -> None:
    async with AsyncClient(mesh.address, kg="wikidata") as client:
        events = [event async for event in client.ask_stream(QUESTION)]
        run = events[-1]
        assert isinstance(run, Run) and "".join(e.text for e in events if isinstance(e, Delta)) == run.text
        stream = client.ask_stream(QUESTION)
        assert isinstance(await anext(stream), StageStarted)
        await stream.aclose()


async def test_a_cancelled_task_cancels_its_call(mesh: Mesh) -> None:
    async with AsyncClient(mesh.address, kg="wikidata") as client:
        task = asyncio.create_task(client.ask(QUESTION))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await client.ask(QUESTION)).answers


async def test_a_knowledge_graph_is_loaded_and_searched(mesh: Mesh, tmp_path: Path) -> None:
    table = tmp_path / "films.csv"
    table.write_text("title,directed by\nAlien,Ridley Scott\n")
    phases: list[str] = []
    async with AsyncClient(mesh.address, kg="wikidata") as client:
        result = await client.load_kg(
            "async", table, triples=[("Alien", "year", "1979")], columns={"subject": "title"},
            on_progress=lambda p: phases.append(p.phase),
        )  # fmt: skip
        assert result.snapshot.triples == 3 and set(phases) <= {"read", "sort", "encode", "write"} and phases
        alien = await client.list_neighbours("Alien", kg="async")
        assert "Alien | instance of | film" in map(str, alien.triples) and alien.total == 3
        assert (await client.search("Robert Stam employer", limit=1))[0].object == "New York University"
        assert (await client.ground(QUESTION)).subjects[0].name == "Robert Stam"
        await client.drop_kg("async")
        with pytest.raises(FileNotFoundError, match="nowhere.tsv"):
            await client.load_kg("async", tmp_path / "nowhere.tsv")


def test_both_clients_are_alike() -> None:
    package = unasync.PACKAGE
    assert unasync.make_sync((package / "aio.py").read_text()) == (package / "client.py").read_text(), (
        "client.py is out of date; run python unasync.py"
    )
    for name, method in inspect.getmembers(AsyncClient, inspect.isfunction):
        if not name.startswith("_"):
            assert list(inspect.signature(getattr(Client, name)).parameters) == list(
                inspect.signature(method).parameters
            )
