"""Meshes with a scripted model: tests/scripted of this repository."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Mesh:
    """A running mesh: its address, and how to authenticate."""

    address: str
    token: str = ""
    ca: str = ""


def build(into: Path, package: str) -> str:
    subprocess.run(["go", "build", "-o", str(into), package], cwd=ROOT, check=True)
    return str(into)


@contextmanager
def run_mesh(program: str, *args: str) -> Iterator[str]:
    """Runs a scripted mesh and returns the address of its orchestrator."""
    process = subprocess.Popen(
        [program, "--nth", "1000", "--http", "", *args],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    try:
        line = process.stdout.readline()
        assert line, "the mesh did not start; its log is above"
        yield json.loads(line)["grpc"]
    finally:
        process.stdin.close()  # then it exits
        assert process.wait(60) == 0


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build(tmp_path_factory.mktemp("bin") / "scripted", "./tests/scripted")


@pytest.fixture(scope="session")
def mesh(program: str) -> Iterator[Mesh]:
    """A mesh without authentication."""
    with run_mesh(program) as address:
        yield Mesh(address)


@pytest.fixture(scope="session")
def closed(program: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mesh]:
    """A mesh with TLS and tokens."""
    directory = tmp_path_factory.mktemp("closed")
    triplemesh = build(directory / "triplemesh", "./cmd/triplemesh")

    def run(*args: str) -> str:
        env = {**os.environ, "HOME": str(directory)}
        return subprocess.run([triplemesh, *args], check=True, stdout=subprocess.PIPE, text=True, env=env).stdout

    certs, tokens = directory / "certs", directory / "tokens.yaml"
    run("certs", "init", "--dir", str(certs))
    run("certs", "issue", "--dir", str(certs), "--all")
    scopes = ("--scope", "ask,kg:read")
    made = run("token", "new", "--file", str(tokens), "--name", "ada", "--tenant", "default", *scopes, "--json")
    settings = {
        "server.tls.cert_file": f"{certs}/{{stage}}/tls.crt",
        "server.tls.key_file": f"{certs}/{{stage}}/tls.key",
        "server.tls.ca_file": f"{certs}/{{stage}}/ca.crt",
        "server.auth.tokens_file": str(tokens),
    }
    flags = [flag for key, value in settings.items() for flag in ("--set", f"{key}={value}")]
    with run_mesh(program, *flags) as address:
        yield Mesh(address, json.loads(made)["token"], str(certs / "ca.crt"))
