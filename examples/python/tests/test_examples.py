from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import nbformat
from conftest import Mesh
from nbclient import NotebookClient

HERE = Path(__file__).resolve().parent.parent


def test_the_script_asks(mesh: Mesh) -> None:
    env = {**os.environ, "TRIPLEMESH_SERVER": mesh.address}
    command = [sys.executable, "ask.py", "What institution employed Robert Stam?"]
    done = subprocess.run(command, cwd=HERE, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "grounded" in done.stdout and "Robert Stam | employer | New York University" in done.stdout
    assert "verify: " in done.stderr


def test_the_script_says_what_went_wrong() -> None:
    env = {**os.environ, "TRIPLEMESH_SERVER": "127.0.0.1:1"}
    done = subprocess.run([sys.executable, "ask.py", "?"], cwd=HERE, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and "UNAVAILABLE" in done.stderr and "Traceback" not in done.stderr


def test_the_notebook_runs(mesh: Mesh) -> None:
    notebook = nbformat.read(HERE / "ask.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "it is kept without what it printed"
    os.environ["TRIPLEMESH_SERVER"] = mesh.address
    try:
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(HERE)}}).execute()
    finally:
        del os.environ["TRIPLEMESH_SERVER"]
    printed = "".join(o.get("text", "") for cell in notebook.cells for o in cell.get("outputs", []))
    assert "New York University" in printed and "contradicted" in printed and "pseudo-graph" in printed
