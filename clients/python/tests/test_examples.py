from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from ask import show
from conftest import ROOT, Mesh
from nbclient import NotebookClient

from triplemesh._convert import parse_run
from triplemesh.graph.v1 import graph_pb2
from triplemesh.orchestrator.v1 import orchestrator_pb2 as pb

EXAMPLES = ROOT / "examples" / "python"


def run_example(address: str, script: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "TRIPLEMESH_SERVER": address}
    return subprocess.run([sys.executable, str(script), *args], env=env, capture_output=True, text=True)


def test_the_script_asks(mesh: Mesh) -> None:
    done = run_example(mesh.address, EXAMPLES / "ask.py", "What institution employed Robert Stam?")
    assert done.returncode == 0, done.stderr
    assert "grounded" in done.stdout and "Robert Stam | employer | New York University" in done.stdout
    assert "verify: " in done.stderr
    done = run_example(mesh.address, EXAMPLES / "ask.py", "What institution employed Robert Stam?", "none")
    assert done.returncode == 1 and "there is no knowledge graph" in done.stderr


def test_the_script_reports_errors() -> None:
    done = run_example("127.0.0.1:1", EXAMPLES / "ask.py", "?")
    assert done.returncode == 1 and "UNAVAILABLE" in done.stderr and "Traceback" not in done.stderr


def test_the_script_prints_ids_and_provenance(capsys: pytest.CaptureFixture[str]) -> None:
    wrote = graph_pb2.Triple(subject="Adams", relation="genre", object="satire", provenance="facts.csv:12")
    answers = [pb.Answer(answer="satire", id="Q128758", evidence=[wrote]), pb.Answer(answer="wit", id="wit")]
    show(parse_run(pb.Run(answers=answers)))
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "  satire  (Q128758)",
        "    Adams | genre | satire  from facts.csv:12",
        "  wit",
    ]


def test_the_notebook_runs(mesh: Mesh) -> None:
    notebook = nbformat.read(EXAMPLES / "ask.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "commit it without outputs"
    os.environ["TRIPLEMESH_SERVER"] = mesh.address
    try:
        NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    finally:
        del os.environ["TRIPLEMESH_SERVER"]
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    printed = "".join(output.get("text", "") for output in outputs)
    html = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert "pseudo-graph" in printed and "University Yale" in printed
    assert len(html) == 3 and "New York University" in html[0] and "<svg" in html[0]
    assert "contradicted" in html[1] and "Oliver Stone" in html[2]
