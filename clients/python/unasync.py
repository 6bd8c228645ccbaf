"""Generates the synchronous client, client.py, from the asynchronous one, aio.py.

    python unasync.py
"""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent / "src" / "triplemesh"

# Applied in order.
RULES = [
    (r'"""The asynchronous client\. unasync\.py generates client\.py from this file\."""',
     '"""The client. Generated from aio.py by unasync.py; do not edit."""'),
    (r"import asyncio\n", ""),
    (r"\(MeshError, asyncio\.CancelledError\)", "MeshError"),
    (r"import grpc\.aio\n", ""),
    (r"await asyncio\.sleep", "time.sleep"),
    (r"grpc\.aio\.", "grpc."),
    (r"AsyncGenerator", "Generator"),
    (r"AsyncClient", "Client"),
    (r"make_async_requests", "make_requests"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\baclose\b", "close"),
    (r"\b(async|await) ", ""),
    (r"(A connection to the orchestrator of a mesh, which forwards the retriever's services\.)",
     r"\1\n    It is safe for use by several threads."),
]  # fmt: skip


def make_sync(text: str) -> str:
    for pattern, replacement in RULES:
        text, n = re.subn(pattern, replacement, text)
        if n == 0:
            raise ValueError(f"aio.py: nothing matches {pattern}; remove the rule")
    return text


if __name__ == "__main__":
    (PACKAGE / "client.py").write_text(make_sync((PACKAGE / "aio.py").read_text()))
