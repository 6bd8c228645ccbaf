"""The distribution that make clients-test built: DIST holds it, BUILD_PYTHON is what built it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import venv
import zipfile
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, Mesh

import triplemesh

DIST = Path(os.environ.get("DIST", ROOT / ".cache" / "clients" / "dist"))
BUILD_PYTHON = os.environ.get("BUILD_PYTHON", str(ROOT / ".cache" / "clients" / "build" / "bin" / "python"))


@pytest.fixture
def wheel() -> Path:
    (wheel,) = DIST.glob("triplemesh-*.whl")
    return wheel


def test_the_version_is_that_of_the_release() -> None:
    sets = yaml.safe_load((ROOT / "versions.yaml").read_text())["module-sets"]
    assert {s["version"] for s in sets.values()} == {f"v{triplemesh.__version__}"}


def test_the_tests_run_on_the_installed_wheel(wheel: Path) -> None:
    assert "site-packages" in Path(triplemesh.__file__).parts
    assert triplemesh.__version__ in wheel.name


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(n).decode() for n in names if n.endswith("METADATA"))
    assert {"triplemesh/py.typed", "triplemesh/client.py", "triplemesh/orchestrator/v1/orchestrator_pb2.pyi"} <= names
    assert all(n.startswith(("triplemesh/", f"triplemesh-{triplemesh.__version__}.dist-info/")) for n in names)
    assert any(n.endswith("licenses/LICENSE") for n in names)
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "clients" / "python" / "LICENSE").read_bytes()
    assert "Provides-Extra: langchain" in metadata and "Provides-Extra: llamaindex" in metadata


def test_the_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    (sdist,) = DIST.glob("triplemesh-*.tar.gz")
    subprocess.run(["tar", "-xzf", str(sdist), "-C", str(tmp_path)], check=True)
    (source,) = tmp_path.iterdir()
    command = [BUILD_PYTHON, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=source, check=True)
    again = tmp_path / wheel.name
    assert hashlib.sha256(again.read_bytes()).digest() == hashlib.sha256(wheel.read_bytes()).digest()


def test_the_wheel_installs_into_an_empty_environment_and_asks(wheel: Path, mesh: Mesh, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    pins = str(ROOT / "clients" / "python" / "requirements.in")
    subprocess.run([str(python), "-m", "pip", "install", "-q", "-c", pins, str(wheel)], check=True)
    ask = [str(python), str(ROOT / "examples/python/ask.py"), "What institution employed Robert Stam?"]
    env = {**os.environ, "TRIPLEMESH_SERVER": mesh.address}
    done = subprocess.run(ask, env=env, capture_output=True, text=True)
    assert done.returncode == 0 and "Robert Stam | employer | New York University" in done.stdout, done.stderr
    for extra in ("langchain", "llamaindex"):
        missing = subprocess.run([str(python), "-c", f"import triplemesh.{extra}"], capture_output=True, text=True)
        assert missing.returncode == 1 and f"pip install triplemesh[{extra}]" in missing.stderr
