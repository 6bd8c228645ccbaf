#!/usr/bin/env bash
# Tests the HTTP API against its OpenAPI document with schemathesis, on a mesh
# with a scripted model. Arguments go to schemathesis.
set -euo pipefail
cd "$(dirname "$0")/../.."

coproc MESH { exec bin/scripted; } # it ends with its standard input
read -r where <&"${MESH[0]}"
http=$(python3 -c 'import json, sys; print(json.loads(sys.argv[1])["http"])' "$where")
PYTHONPATH=.cache/rest python3 .cache/rest/bin/st --config-file tests/rest/schemathesis.toml run "http://$http/api/openapi.json" "$@"
