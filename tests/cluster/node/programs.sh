#!/usr/bin/env bash
# programs.sh NAME...: build programs of others at pinned versions below .cache/programs, and put
# each as an image into the node that ../shared/kube runs, with the types of objects that it needs:
# under the name that the manifests of deploy/k8s give it, else as localhost/NAME:dev. With
# --build-only, without a node.
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
PROGRAMS=$HERE/../../../.cache/programs
mkdir -p "$PROGRAMS"
PROGRAMS=$(cd "$PROGRAMS" && pwd)
COMPONENTS=$HERE/../../../deploy/k8s/components
LLAMA=$HERE/../../../.cache/llama
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
  go build -trimpath -tags "${3:-}" -ldflags="-s -w ${LDFLAGS:-}" -o "$PROGRAMS/$1" "${2%@*}"
}

# copy MODULE@VERSION DIRECTORY: has the module of the directory take one's place.
copy() {
  go mod download "$1"
  cp -r --no-preserve=mode "$(go env GOMODCACHE)/$1" "$2"
  go mod edit -replace "${1%@*}=./$2"
}

# print_types MODULE@VERSION DIRECTORY: prints the manifests in a directory of a module.
print_types() {
  go mod download "$1"
  for file in "$(go env GOMODCACHE)/$1/$2"/*.yaml; do
    echo ---
    cat "$file"
  done
}

# find_llama_server: prints the path of the program. What setup found may be a script over a Python package, which is
# no use in an image.
find_llama_server() {
  find "$LLAMA/" "$PROGRAMS/llama/" -name llama-server -type f -size +4k 2>/dev/null | head -1
}

build() {
  case $1 in
  llama-server)
    "$HERE/../../../bin/triplemesh" setup --cache "$PROGRAMS" --own --no-encoder --no-runtime --no-model
    ;;
  jaeger) compile "$1" github.com/jaegertracing/jaeger/cmd/all-in-one@v1.76.0 ;;
  kube-state-metrics) compile "$1" k8s.io/kube-state-metrics/v2@v2.18.0 ;;
  prometheus-adapter) compile "$1" sigs.k8s.io/prometheus-adapter/cmd/adapter@v0.12.0 ;;
  prometheus)
    # Debian's has no discovery of pods.
    compile "$1" github.com/prometheus/prometheus/cmd/prometheus@v0.313.0 remove_all_sd,enable_kubernetes_sd
    ;;
  weaviate)
    LDFLAGS='-X github.com/weaviate/weaviate/usecases/build.Version=1.35.2' \
      compile "$1" github.com/weaviate/weaviate/cmd/weaviate-server@v1.35.2
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
  types)
    # The types of objects that the manifests have beside those of the other programs.
    cd "$WORK"
    go mod init programs/types
    print_types github.com/prometheus-operator/prometheus-operator@v0.85.0 example/prometheus-operator-crd \
      >"$PROGRAMS/$1.yaml"
    print_types github.com/kedacore/keda/v2@v2.21.0 config/crd/bases >>"$PROGRAMS/$1.yaml"
    ;;
  kube-router) compile "$1" github.com/cloudnativelabs/kube-router/v2/cmd/kube-router@v2.1.0 ;;
  otel-collector)
    cd "$WORK"
    GOFLAGS= go run "go.opentelemetry.io/collector/cmd/builder@v$OTEL" --config "$HERE/otel-collector.yaml"
    mv otel-collector/otel-collector "$PROGRAMS/otel-collector"
    ;;
  *) echo "programs.sh: unknown program $1" >&2; return 1 ;;
  esac
}

# files NAME: prints the name of the program's image and what is in it, as load.sh takes them; nothing
# for what runs in no pod.
files() {
  case $1 in
  kube-router | types) ;;
  llama-server)
    # A program with libraries beside it, or alone.
    local program
    program=$(find_llama_server)
    printf '%s\n' "$(image_in model-server-llama/model-server.yaml llama)" "/app/$1"
    find "$(dirname "$program")" -maxdepth 1 -type f \( -name "$1" -o -name '*.so*' \) -printf '%p=/app/%f\n'
    ;;
  curl)
    image_in model-server-llama/model-server.yaml curl
    echo /bin/sh
    printf '%s\n' /bin/sh=/bin/sh
    for tool in curl sha256sum mv rm sleep; do echo "$(readlink -f "$(command -v $tool)")=/bin/$tool"; done
    ;;
  weaviate) printf '%s\n' "$(image_in weaviate/weaviate.yaml weaviate)" "/$1" "$PROGRAMS/$1=/$1" ;;
  *) printf '%s\n' "localhost/$1:dev" "/$1" "$PROGRAMS/$1=/$1" ;;
  esac
}

# image_in FILE WORD: prints the image with the word that a component names.
image_in() { sed -n "s/^ *image: \(.*$2.*\)/\1/p" "$COMPONENTS/$1"; }

load=true
if [ "${1:-}" = --build-only ]; then load=false; shift; fi
for name in "$@"; do
  case $name in
  curl) ;;
  llama-server) [ -n "$(find_llama_server)" ] || (build "$name") ;;
  types) [ -s "$PROGRAMS/$name.yaml" ] || (build "$name") ;;
  *) [ -x "$PROGRAMS/$name" ] || (build "$name") ;;
  esac
  if $load; then
    mapfile -t image < <(files "$name")
    [ ${#image[@]} -eq 0 ] || "$HERE/load.sh" "${image[@]}" >/dev/null
    [ ! -f "$PROGRAMS/$name.yaml" ] || kubectl apply --server-side -f "$PROGRAMS/$name.yaml" >/dev/null
  fi
  rm -rf "${WORK:?}"/*
done
