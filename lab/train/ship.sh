#!/usr/bin/env bash
# Trains the ranker that comes with triplemesh: ship.sh DATA CLI-FLAGS… writes shipped.rank.
# DATA holds the question sets; the graphs metaqa, pathquestion, freebase and wikidata are loaded.
# The questions of the part report (docs/evaluation.md) are left out: figures are published on them.
set -euo pipefail
data=$1; shift
held=$(mktemp -d)
trap 'rm -rf "$held"' EXIT
python3 - "$data" "$held" <<'PY'
import hashlib, json, pathlib, sys
data, held = map(pathlib.Path, sys.argv[1:])
part = lambda id: int.from_bytes(hashlib.sha256(f"part\n{id}".encode()).digest()[:8], "big") % 10
for name in ("freebase/webqsp.jsonl", "freebase/cwq.jsonl", "freebase/simplequestions.jsonl",
             "multisource/webquestions.jsonl", "wikidata/zsre.jsonl", "metaqa/qa_2-hop.txt", "metaqa/qa_3-hop.txt",
             "pathquestion/PQ-2H.txt", "pathquestion/PQ-3H.txt"):
    lines = (data / name).read_text().strip().split("\n")
    ids = [json.loads(line)["id"] if name.endswith("jsonl") else str(i + 1) for i, line in enumerate(lines)]
    report = [line for line, id in zip(lines, ids) if part(id) > 5]
    (held / name.replace("/", "-")).write_text("\n".join(report) + "\n")
PY
flags=()
for file in "$held"/*; do flags+=(--not-in "$file"); done
for set in metaqa:metaqa/qa_2-hop.txt metaqa:metaqa/qa_3-hop.txt pathquestion:pathquestion/PQ-2H.txt \
  pathquestion:pathquestion/PQ-3H.txt freebase:freebase/webqsp.jsonl freebase:freebase/cwq.jsonl \
  freebase:freebase/simplequestions.jsonl freebase:multisource/webquestions.jsonl wikidata:wikidata/zsre.jsonl; do
  flags+=(--kg "${set%%:*}" --questions "$data/${set#*:}")
done
bin/triplemesh train ranker --local --part all --scratch --hold 0.05 --limit 800 "${flags[@]}" \
  --out services/retriever/rank/shipped.rank --force "$@"
