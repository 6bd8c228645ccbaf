#!/usr/bin/env bash
# Loads a graph by a command line for arm64, under emulation, and by this machine's, and compares the
# snapshots: vectors do not depend on the processor. The encoder is in .cache (make setup).
set -euo pipefail
cd "$(dirname "$0")/.."
qemu=${QEMU:-qemu-aarch64-static -cpu max}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

gzip -dc examples/wikidata/triples.tsv.gz | sed -n '1,60p' >"$scratch/triples.tsv"
load() { # DIR COMMAND…
  local dir=$1
  shift
  "$@" kg load --local --set retriever.encoder.kind=int8 --data "$scratch/$dir" --cache .cache sample "$scratch/triples.tsv"
}
GOARCH=arm64 CGO_ENABLED=0 go build -o "$scratch/triplemesh-arm64" ./cmd/triplemesh
go build -o "$scratch/triplemesh" ./cmd/triplemesh
# shellcheck disable=SC2086 # a command with options
load arm64 $qemu "$scratch/triplemesh-arm64"
load native "$scratch/triplemesh"
# The manifests say when the snapshots were created.
diff -r -x 'manifest.json*' "$scratch/arm64/kg/sample/1" "$scratch/native/kg/sample/1"
echo "a snapshot loaded on arm64 is the same"
