"""Build hook: generates the protobuf modules when the package is built in a checkout.

A source distribution holds them already.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GenerateHook(BuildHookInterface):  # type: ignore[type-arg]
    """Runs generate.py."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        here = Path(self.root)
        if (here.parent.parent / "proto" / "triplemesh").is_dir():
            sys.path.insert(0, str(here))
            from generate import generate

            generate()
        elif not (here / "src" / "triplemesh" / "orchestrator" / "v1").is_dir():
            raise FileNotFoundError(f"{here}: no protobuf modules and no protos to generate them from; use a checkout")
