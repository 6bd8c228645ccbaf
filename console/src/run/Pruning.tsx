import { useMemo, useState } from "preact/hooks";
import type { PgAkvGraphs, Run } from "../api/messages";
import { href } from "../app/router";
import { score } from "../format/quantity";
import { count } from "../format/text";
import { EntityName } from "../ui/EntityName";
import { type Candidate, candidatesOf, type Fate, fate, startingThreshold, stays } from "./pruning";
import { Reground } from "./Reground";
import "./pruning.css";

/** How many subjects are shown before the reader asks for the rest. */
const few = 14;

/**
 * What pruning kept and dropped, and what another threshold would keep: at once
 * by what the run holds, and by the retriever itself a moment later. No model
 * is called.
 */
export function Pruning({ graphs, run }: { graphs: PgAkvGraphs; run: Run }) {
  const candidates = useMemo(() => candidatesOf(graphs), [graphs]);
  const start = useMemo(() => startingThreshold(candidates), [candidates]);
  const [moved, setMoved] = useState<number>();
  const [all, setAll] = useState(false);
  const threshold = moved ?? start;
  const kept = candidates.filter((candidate) => stays(fate(candidate, threshold)));
  const triples = kept.reduce((sum, candidate) => sum + candidate.triples, 0);
  const shown = all ? candidates : candidates.slice(0, few);
  return (
    <details class="fold pruning">
      <summary>{`Pruning: ${count(candidates.length, "subject")}, ${kept.length} kept`}</summary>
      <p class="hint">
        Move the threshold to see which subjects the second pruning would keep. Subjects that had
        too few hits fell in the first one, whatever their confidence.
      </p>
      <label class="pruning-slider">
        Least confidence
        <input
          type="range"
          min="0"
          max="1"
          step="0.01"
          value={threshold}
          onInput={(event) => setMoved(Number(event.currentTarget.value))}
        />
        <output class="figures">{score(threshold)}</output>
      </label>
      <p class="pruning-sum" role="status">
        {`By this run: ${count(kept.length, "subject")}${triples ? `, ${count(triples, "triple")}` : ""} kept at ${score(threshold)}.`}
      </p>
      <ul class="pruning-rows" aria-label="Subjects by confidence">
        {shown.map((candidate) => (
          <Row
            key={`${candidate.kg} ${candidate.subject}`}
            candidate={candidate}
            threshold={threshold}
          />
        ))}
      </ul>
      {candidates.length > few ? (
        <button type="button" class="button small" onClick={() => setAll(!all)}>
          {all ? "Show fewer" : `Show all ${candidates.length}`}
        </button>
      ) : null}
      {moved !== undefined && run.kg ? (
        <Reground run={run} graphs={graphs} threshold={moved} />
      ) : null}
      {moved !== undefined ? (
        <p>
          <a
            class="button small"
            href={href(["ask"], {
              q: run.standaloneQuestion || run.question || "",
              method: run.method ?? "",
              kg: [run.kg, ...(run.otherKgs ?? [])].map((kg) => kg?.name ?? "").join(","),
              "min-confidence": score(moved),
            })}
          >
            {`Ask again at ${score(moved)}`}
          </a>
        </p>
      ) : null}
    </details>
  );
}

const fates: Record<Fate, string> = {
  kept: "kept",
  returns: "would return",
  falls: "would fall",
  below: "under the threshold",
  outnumbered: "too few hits",
};

function Row({ candidate, threshold }: { candidate: Candidate; threshold: number }) {
  const what = fate(candidate, threshold);
  return (
    <li class={`pruning-row ${what}`}>
      <span class="pruning-name">
        <EntityName name={candidate.subject} id={candidate.id} most={40} />
        {candidate.kg ? <span class="triple-kg"> {candidate.kg}</span> : null}
      </span>
      <meter
        min={0}
        max={1}
        value={Math.max(0, candidate.confidence)}
        aria-label={`Confidence in ${candidate.subject}`}
      />
      <span class="figures">{score(candidate.confidence)}</span>
      <span class="pruning-fate">{fates[what]}</span>
      <span class="figures muted">
        {candidate.triples ? count(candidate.triples, "triple") : count(candidate.hits, "hit")}
      </span>
    </li>
  );
}
