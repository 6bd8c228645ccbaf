import { useEffect, useMemo, useState } from "preact/hooks";
import type { PgAkvGraphs, Run } from "../api/messages";
import { words } from "../format/text";
import { threeGraphs } from "../graph/diff";
import { GraphAndList } from "../graph/GraphAndList";
import { type Edge, graphOf } from "../graph/graph";
import { rowsOf } from "../graph/layout";
import { Icon } from "../ui/Icon";
import { type Tab, Tabs } from "../ui/Tabs";
import { Cypher } from "./Cypher";
import { EditCountsView } from "./EditCountsView";
import { Neighbourhood, type Place } from "./Neighbourhood";
import { Pruning } from "./Pruning";
import "./three-graphs.css";

/** How long each graph is shown when they are played, in milliseconds. */
const beat = 1900;

/**
 * The three graphs of PG&AKV as one picture that becomes the next: what the
 * model drafted, what the knowledge graph holds, and what was changed.
 */
export function ThreeGraphs({ graphs, run }: { graphs: PgAkvGraphs; run: Run }) {
  const three = useMemo(() => threeGraphs(graphs), [graphs]);
  const phases = useMemo(
    () =>
      [
        { name: "draft", label: "Draft", edges: three.draft },
        { name: "ground", label: "Evidence", edges: three.ground },
        { name: "changes", label: "Changes", edges: three.changes },
        { name: "fixed", label: "Fixed", edges: three.fixed },
      ]
        .filter((phase) => phase.edges.length > 0)
        .map((phase) => ({ ...phase, graph: graphOf(phase.edges) })),
    [three],
  );
  // One height for all of them: the page stands still while they are played.
  const rows = useMemo(() => {
    const each = phases.map(({ graph }) => rowsOf(graph));
    return each.includes(0) ? 0 : Math.max(...each);
  }, [phases]);
  const [chosen, choose] = useState<string>();
  const [playing, setPlaying] = useState(false);
  const [open, setOpen] = useState<Place>();
  // The changes tell most; before they are there, the newest graph does.
  const shown = chosen ?? (phases.find(({ name }) => name === "changes") ?? phases.at(-1))?.name;

  useEffect(() => {
    if (!playing) {
      return;
    }
    const at = phases.findIndex(({ name }) => name === shown);
    const next = phases[at + 1];
    const timer = setTimeout(() => (next ? choose(next.name) : setPlaying(false)), next ? beat : 0);
    return () => clearTimeout(timer);
  }, [playing, shown, phases]);

  if (phases.length === 0) {
    return null;
  }
  const tabs: Tab[] = phases.map((phase) => ({
    name: phase.name,
    label: (
      <>
        <span class={`phase-dot phase-${phase.name}`} aria-hidden="true" />
        {phase.label} <span class="figures muted">{phase.edges.length}</span>
      </>
    ),
    body: () => (
      <GraphAndList
        graph={phase.graph}
        listed={phase.edges.filter(isListed)}
        rows={rows}
        label={captions[phase.name] ?? phase.label}
        onChoose={(edge) => setOpen({ edge })}
        onNode={(entity) => setOpen({ entity })}
      />
    ),
  }));
  return (
    <section class="card three-graphs" aria-label="The three graphs">
      <header class="section-head">
        <h2>From draft to fixed graph</h2>
        {three.changes.length ? <EditCountsView counts={three.counts} /> : null}
        {phases.length > 1 ? (
          <button
            type="button"
            class="button small"
            onClick={() => {
              choose(phases[0]?.name);
              setPlaying(true);
            }}
            disabled={playing}
          >
            <Icon name="play" size={15} /> Play
          </button>
        ) : null}
      </header>
      <Tabs
        label="Graphs of this run"
        tabs={tabs}
        {...(shown ? { chosen: shown } : {})}
        onChoose={(name) => {
          setPlaying(false);
          choose(name);
        }}
      />
      {graphs.verification ? (
        <p class="hint">{`Verified by ${words(graphs.verification, "VERIFICATION_MODE_")}.`}</p>
      ) : null}
      {graphs.cypher ? <Cypher graphs={graphs} /> : null}
      {graphs.groundGraph || graphs.dropped ? <Pruning graphs={graphs} run={run} /> : null}
      {open ? <Neighbourhood run={run} place={open} onClose={() => setOpen(undefined)} /> : null}
    </section>
  );
}

const captions: Record<string, string> = {
  draft: "What the model wrote from memory (pseudo-graph)",
  ground: "What the knowledge graph holds near it (ground graph)",
  changes: "What verification changed",
  fixed: "What the answer was written from (fixed graph)",
};

// What was replaced is told on the line of what replaced it.
const isListed = (edge: Edge): boolean => edge.mark !== "replaced" || edge.instead === undefined;
