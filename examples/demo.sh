#!/usr/bin/env bash
# Runs the mesh, loads the bundled Wikidata facts once, and asks three questions.
# `make demo` has built and set up everything it needs.
set -euo pipefail
cd "$(dirname "$0")/.."
triplemesh=bin/triplemesh
log=.cache/demo.log
mesh=

say() { printf '\n\033[1m%s\033[0m\n' "$*" | { [ -t 1 ] && cat || sed 's/\x1b\[[0-9]*m//g'; }; }
run() {
  local line='$ triplemesh' arg
  for arg in "$@"; do
    case $arg in *\ *) line+=" \"$arg\"" ;; *) line+=" $arg" ;; esac
  done
  say "$line"
  "$triplemesh" "$@"
}

stop() {
  if [ -n "$mesh" ]; then
    kill "$mesh" 2>/dev/null || true
    wait "$mesh" 2>/dev/null || true
  fi
}
trap stop EXIT

if "$triplemesh" methods >/dev/null 2>&1; then
  say "A mesh is running already: the demo asks that one."
else
  say "\$ triplemesh up &    (log: $log)"
  "$triplemesh" up >"$log" 2>&1 &
  mesh=$!
  until "$triplemesh" methods >/dev/null 2>&1; do
    if ! kill -0 "$mesh" 2>/dev/null; then
      echo "the mesh did not start; the end of $log:" >&2
      tail -n 15 "$log" >&2
      exit 1
    fi
    sleep 1
  done
fi

run kg load wikidata examples/wikidata/triples.tsv.gz --if-missing
run ask "What institution employed Robert Stam?" --method pg-akv --kg wikidata --explain --trace
run ask "At which university did the director of the film Alexander study?" --method ger --kg wikidata --explain --trace
run ask "How many spacecraft were launched in 1969?" --kg wikidata --explain

say "What to try next"
cat <<'NEXT'
  bin/triplemesh up                                run the mesh; then, in another terminal:
  bin/triplemesh ask "…" --explain                 ask what you like; --method ger for several hops
  bin/triplemesh kg load NAME FILE…                load your own: tables, RDF, dumps, Neo4j, SPARQL
  bin/triplemesh runs                              what was asked, with every graph kept
  bin/triplemesh doctor                            what is there, what is missing, how to mend it
  OPENAI_BASE_URL=… OPENAI_API_KEY=… bin/triplemesh up --set llm.model=NAME
                                                   use another model
NEXT
