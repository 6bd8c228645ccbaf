#!/usr/bin/env bash
# Builds twice, from two directories, in environments that differ in all that
# must not matter, and compares every byte. Without arguments the verifier's
# program and image; with "all", every program and image.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

programs=./services/verifier/cmd/verifier images=(verifier)
if [ "${1:-}" = all ]; then
  programs= images=()
fi

# The program that builds images is no part of them: one is enough.
go build -o "$work/release" ./deploy/release

# What is checked out may change while it is built: it is taken once.
git ls-files -coz --exclude-standard | while IFS= read -rd '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done |
  tar -c --null -T - >"$work/source.tar"

# build DIRECTORY builds there; the results are in out.
build() {
  mkdir -p "$1"
  tar -x -C "$1" <"$work/source.tar"
  [ ! -d "$root/.cache" ] || ln -s "$root/.cache" "$1/.cache"
  (
    cd "$1"
    make -s build VERSION=v0.0.0 ${programs:+PROGRAMS="$programs"}
    "$work/release" images -version v0.0.0 -revision 0 -out out "${images[@]}" >/dev/null
    cp -r bin out/bin
  )
}

export GOMODCACHE=${GOMODCACHE:-$(go env GOMODCACHE)}
(umask 022 && TZ=UTC LC_ALL=C GOFLAGS= build "$work/one")
(umask 077 && TZ=Asia/Kathmandu LC_ALL=C.UTF-8 GOFLAGS= GOCACHE="$work/cache" GOTMPDIR="$work" TMPDIR="$work" \
  HOME="$work" USER=somebody build "$work/elsewhere/and/deeper/two")

count=0
while IFS= read -r file; do
  if ! cmp "$work/one/out/$file" "$work/elsewhere/and/deeper/two/out/$file"; then
    echo "$file is not built alike twice: look for a path, a time or an order in it" >&2
    exit 1
  fi
  count=$((count + 1))
done < <(cd "$work/one/out" && find . -type f | LC_ALL=C sort)
diff <(cd "$work/one/out" && find . -type f | LC_ALL=C sort) <(cd "$work/elsewhere/and/deeper/two/out" && find . -type f | LC_ALL=C sort)
[ "$count" -gt 0 ] || { echo "nothing was built" >&2; exit 1; }
echo "$count files are the same, byte by byte:"
(cd "$work/one/out" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
