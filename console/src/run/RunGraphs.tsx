import { useMemo } from "preact/hooks";
import type { GerGraphs, Run } from "../api/messages";
import { CandidatesView } from "./CandidatesView";
import { DepthsView } from "./DepthsView";
import { HitsView } from "./HitsView";
import { PathsView } from "./PathsView";
import { QueryView } from "./QueryView";
import { SamplesView } from "./SamplesView";
import { ThreeGraphs } from "./ThreeGraphs";

/** What a run's method made on its way, as far as it has come. */
export function RunGraphs({ run }: { run: Run }) {
  const { pgAkv, ger, rag, sc, tog, rog, choice, query } = run;
  return (
    <>
      {choice?.method ? (
        <p class="chosen">
          <b>auto</b> chose <b>{choice.method}</b>
          {choice.reason ? `: ${choice.reason}` : "."}
        </p>
      ) : null}
      {pgAkv ? <ThreeGraphs graphs={pgAkv} run={run} /> : null}
      {ger ? <Ger graphs={ger} run={run} /> : null}
      {query ? <QueryView key={run.id} graphs={query} run={run} /> : null}
      {rag ? <HitsView graphs={rag} run={run} /> : null}
      {sc ? <SamplesView graphs={sc} /> : null}
      {rog ? (
        <PathsView
          run={run}
          topics={rog.topicEntities}
          paths={rog.reasoningPaths}
          plans={rog.relationPaths}
          proposed={rog.plannedPaths}
        />
      ) : null}
      {tog ? <PathsView run={run} topics={tog.topicEntities} paths={tog.reasoningPaths} /> : null}
      {tog ? <DepthsView graphs={tog} /> : null}
    </>
  );
}

function Ger({ graphs, run }: { graphs: GerGraphs; run: Run }) {
  const candidates = useMemo(
    () => (graphs.candidates ?? []).map((candidate) => candidate.answer ?? ""),
    [graphs],
  );
  return (
    <>
      <CandidatesView graphs={graphs} />
      <PathsView
        run={run}
        topics={graphs.topicEntities}
        paths={graphs.reasoningPaths}
        plans={graphs.relationPaths}
        proposed={graphs.proposedPaths}
        candidates={candidates}
      />
    </>
  );
}
