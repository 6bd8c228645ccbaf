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

# copy MODULE@VERSION DIRECTORY: has the module of the directory take one's place.
copy() {
  go mod download "$1"
  cp -r --no-preserve=mode "$(go env GOMODCACHE)/$1" "$2"
  go mod edit -replace "${1%@*}=./$2"
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
  traefik)
    # Without providers of DNS for ACME and passwords, whose modules no proxy has. Its module ext is
    # in none either, and holds no more than this.
    cd "$WORK"
    go mod init programs/traefik
    copy github.com/go-acme/lego/v5@v5.4.1 lego
    cat >lego/providers/dns/zz_gen_dns_providers.go <<'GO'
package dns

import (
	"errors"

	"github.com/go-acme/lego/v5/challenge"
)

func NewDNSChallengeProviderByName(name string) (challenge.Provider, error) {
	return nil, errors.ErrUnsupported
}
GO
    copy github.com/abbot/go-http-auth@v0.4.0 auth
    printf 'module github.com/abbot/go-http-auth\n' >auth/go.mod
    cat >auth/none.go <<'GO'
package auth

import "net/http"

func CheckSecret(password, secret string) bool { return false }

func (a *DigestAuth) RequireAuthStale(w http.ResponseWriter, r *http.Request) { a.RequireAuth(w, r) }
GO
    mkdir ext
    printf 'module github.com/traefik/traefik/dynamic/ext\n' >ext/go.mod
    printf 'package ext\n\ntype (\n\tHTTP   struct{}\n\tRouter struct{}\n)\n' >ext/ext.go
    go mod edit -replace github.com/traefik/traefik/dynamic/ext=./ext \
      -replace github.com/gorilla/mux=github.com/containous/mux@v0.0.0-20250523120546-41b6ec3aed59
    compile "$1" github.com/traefik/traefik/v3/cmd/traefik@v3.7.13
    kubectl kustomize "$(go list -m -f '{{.Dir}}' sigs.k8s.io/gateway-api)/config/crd" >"$PROGRAMS/$1.yaml"
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
