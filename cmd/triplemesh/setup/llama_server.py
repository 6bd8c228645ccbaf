"""Runs the llama-server inside the package xllamacpp, which lies beside this file."""
import argparse
import ctypes
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import xllamacpp

parser = argparse.ArgumentParser(prog="llama-server", allow_abbrev=False)
parser.add_argument("--version", action="version", version="xllamacpp " + xllamacpp.__version__)
parser.add_argument("--model", required=True)
parser.add_argument("--alias", default="")
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--threads-batch", type=int, default=0, help="that read prompts; 0 is as many as --threads")
parser.add_argument("--parallel", type=int, default=1)
parser.add_argument("--ctx-size", type=int, default=4096)
parser.add_argument("--cache-ram", type=int, default=512)
parser.add_argument("--spec-type", default="", help="such as ngram-simple")
args = parser.parse_args()

params = xllamacpp.CommonParams()
params.model.path = args.model
if args.alias:
    params.model_alias = {args.alias}
params.hostnames = [args.host]
params.port = args.port
params.cpuparams.n_threads = args.threads
params.cpuparams_batch.n_threads = args.threads_batch or args.threads
params.n_parallel = args.parallel
params.n_ctx = args.ctx_size
params.cache_ram_mib = args.cache_ram
params.offline = True
params.ui = False
if args.spec_type:
    kind = "COMMON_SPECULATIVE_TYPE_" + args.spec_type.upper().replace("-", "_")
    params.speculative.types = [getattr(xllamacpp.common_speculative_type, kind)]

if sys.platform == "linux":
    # PR_SET_NAME: process lists show llama-server, not python3.
    ctypes.CDLL(None).prctl(15, b"llama-server", 0, 0, 0)
# SIGTERM ends the process at once: the server's thread would not see Python's own handling.
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.SIG_DFL)
try:
    server = xllamacpp.Server(params)
except RuntimeError as error:
    sys.exit("llama-server: %s" % error)
while True:
    signal.pause()
