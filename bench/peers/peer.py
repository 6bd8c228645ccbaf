"""What every peer shares: `triplemesh-bench` writes one JSON request a line to
its standard input and reads one JSON answer a line from its standard output, so
that the engine and its peers take turns within one run."""

import json
import sys
import time


def serve(handle):
    """Answer requests until the input ends. handle takes and returns a dict."""
    for line in sys.stdin:
        try:
            answer = handle(json.loads(line))
        except Exception as error:  # told to the caller, who knows what it asked
            answer = {"error": f"{type(error).__name__}: {error}"}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def timed(run, repeat):
    """Run repeat times; return the milliseconds of each and the last result."""
    took, result = [], None
    for _ in range(repeat):
        began = time.perf_counter()
        result = run()
        took.append((time.perf_counter() - began) * 1e3)
    return took, result
