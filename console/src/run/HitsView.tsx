import { useMemo, useState } from "preact/hooks";
import type { RagGraphs, Run } from "../api/messages";
import { toNumber } from "../format/quantity";
import { GraphAndList } from "../graph/GraphAndList";
import { type Edge, graphOf, identified } from "../graph/graph";
import { Neighbourhood } from "./Neighbourhood";

/** The triples nearest to the question, best first (rag). */
export function HitsView({ graphs, run }: { graphs: RagGraphs; run: Run }) {
  const [open, setOpen] = useState<Edge>();
  const graph = useMemo(
    () =>
      graphOf(
        identified(
          (graphs.hits ?? []).flatMap(({ triple, score }) =>
            triple
              ? [{ triple, mark: "evidence" as const, score: toNumber(score), evidence: [] }]
              : [],
          ),
        ),
      ),
    [graphs],
  );
  return (
    <section class="card" aria-label="Hits">
      <header class="section-head">
        <h2>Triples nearest to the question</h2>
      </header>
      <GraphAndList graph={graph} label="Hits, best first" onChoose={setOpen} />
      {open ? (
        <Neighbourhood run={run} place={{ edge: open }} onClose={() => setOpen(undefined)} />
      ) : null}
    </section>
  );
}
