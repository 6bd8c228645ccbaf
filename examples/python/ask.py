"""Asks a question and prints the stages, the answer and its evidence.

    pip install triplemesh
    python ask.py "What institution employed Robert Stam?" [KG]

Environment: TRIPLEMESH_SERVER, the orchestrator (127.0.0.1:9090); TRIPLEMESH_TOKEN, the token of a
mesh that authenticates callers; TRIPLEMESH_CA, the certificate authority of a mesh with TLS.
"""

from __future__ import annotations

import os
import sys

from triplemesh import Client, Delta, MeshError, Restarted, Run, StageFinished


def show(run: Run) -> None:
    print(f"\n{run.grounding.value}: {run.grounding_reason}")
    for answer in run.answers:
        print(f"  {answer.answer}" + (f"  ({answer.id})" if answer.id not in ("", answer.answer) else ""))
        for triple in answer.evidence:
            print(f"    {triple}" + (f"  from {triple.provenance}" if triple.provenance else ""))


def main(question: str, kg: str | None = None) -> int:
    mesh = Client(
        os.environ.get("TRIPLEMESH_SERVER", "127.0.0.1:9090"),
        kg=kg,
        token=os.environ.get("TRIPLEMESH_TOKEN"),
        ca=os.environ.get("TRIPLEMESH_CA"),
    )
    with mesh:
        try:
            for event in mesh.ask_stream(question):
                match event:
                    case StageFinished():
                        print(f"{event.stage}: {event.seconds:.2f} s", file=sys.stderr)
                    case Delta():
                        print(event.text, end="", flush=True)
                    case Restarted():
                        print("\n(restarted)")
                    case Run():
                        show(event)
        except (MeshError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
