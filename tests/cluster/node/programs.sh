#!/usr/bin/env bash
# programs.sh NAME...: build programs of others at pinned versions below .cache/programs, and put
# each as the image localhost/NAME:dev into the node that ../shared/kube runs, with the types of
# objects that it needs. With --build-only, without a node.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
PROGRAMS=$HERE/../../../.cache/programs
mkdir -p "$PROGRAMS"
PROGRAMS=$(cd "$PROGRAMS" && pwd)
OTEL=0.158.0
export GOWORK=off GOFLAGS="${GOFLAGS:-} -mod=mod -buildvcs=false" CGO_ENABLED=0
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

# compile NAME PACKAGE@VERSION [TAGS]: builds a main package in a throwaway module, with the
# versions of its own go.mod.
compile() {
  cd "$WORK"
  [ -f go.mod ] || go mod init "programs/$1"
  go get "$2"
  go build -trimpath -tags "${3:-}" -ldflags='-s -w' -o "$PROGRAMS/$1" "${2%@*}"
}

build() {
  case $1 in
  jaeger) compile "$1" github.com/jaegertracing/jaeger/cmd/all-in-one@v1.76.0 ;;
  kube-state-metrics) compile "$1" k8s.io/kube-state-metrics/v2@v2.18.0 ;;
  prometheus-adapter) compile "$1" sigs.k8s.io/prometheus-adapter/cmd/adapter@v0.12.0 ;;
  prometheus)
    # Debian's has no discovery of pods.
    compile "$1" github.com/prometheus/prometheus/cmd/prometheus@v0.313.0 remove_all_sd,enable_kubernetes_sd
    ;;
  cert-manager)
    cp "$HERE/cert-manager.go.txt" "$WORK/main.go"
    cd "$WORK"
    go mod init programs/cert-manager
    go get github.com/cert-manager/cert-manager@v1.21.2
    go build -trimpath -ldflags='-s -w' -o "$PROGRAMS/$1"
    cat "$(go list -m -f '{{.Dir}}' github.com/cert-manager/cert-manager)"/deploy/crds/*.yaml >"$PROGRAMS/$1.yaml"
    ;;
  otel-collector)
    cd "$WORK"
    GOFLAGS= go run "go.opentelemetry.io/collector/cmd/builder@v$OTEL" --config "$HERE/otel-collector.yaml"
    mv otel-collector/otel-collector "$PROGRAMS/otel-collector"
    ;;
  *) echo "programs.sh: unknown program $1" >&2; return 1 ;;
  esac
}

load=true
if [ "${1:-}" = --build-only ]; then load=false; shift; fi
for name in "$@"; do
  [ -x "$PROGRAMS/$name" ] || (build "$name")
  if $load; then
    "$HERE/load.sh" "localhost/$name:dev" "/$name" "$PROGRAMS/$name=/$name" >/dev/null
    [ ! -f "$PROGRAMS/$name.yaml" ] || kubectl apply --server-side -f "$PROGRAMS/$name.yaml" >/dev/null
  fi
  rm -rf "${WORK:?}"/*
done
