"""Asks a question and shows how it is answered.

    python ask.py "What institution employed Robert Stam?"

TRIPLEMESH_SERVER is where the orchestrator is, 127.0.0.1:9090 unless set;
TRIPLEMESH_TOKEN is sent where the mesh asks who calls, TRIPLEMESH_CA is the
authority where it wants TLS.
"""

from __future__ import annotations

import os
import sys

from triplemesh_client import Client, Delta, MeshError, Restarted, Run, StageFinished


def show(run: Run) -> None:
    print(f"\n{run.grounding.value}: {run.grounding_reason}")
    for answer in run.answers:
        print(f"  {answer.answer}")
        for triple in answer.evidence:
            print(f"    {triple}")


def main(question: str) -> int:
    mesh = Client(
        os.environ.get("TRIPLEMESH_SERVER", "127.0.0.1:9090"),
        token=os.environ.get("TRIPLEMESH_TOKEN"),
        ca=os.environ.get("TRIPLEMESH_CA"),
    )
    with mesh:
        try:
            for event in mesh.ask_stream(question):
                if isinstance(event, StageFinished):
                    print(f"{event.stage}: {event.seconds:.2f} s", file=sys.stderr)
                elif isinstance(event, Delta):
                    print(event.text, end="", flush=True)
                elif isinstance(event, Restarted):
                    print("\n(once more:)")
                elif isinstance(event, Run):
                    show(event)
        except (MeshError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
