import { useState } from "preact/hooks";
import { score } from "../format/quantity";
import { count } from "../format/text";
import { TripleView } from "../ui/TripleView";
import { GraphPicture } from "./GraphPicture";
import type { Edge, Graph } from "./graph";
import { EdgeLine, TripleList } from "./TripleList";

/** How much of the evidence is shown in passing; a click shows all. */
const few = 3;

/**
 * A picture of triples and the list of the same beside it. What the pointer or
 * the focus is on in one stands out in the other.
 */
export function GraphAndList({
  graph,
  listed = graph.edges,
  label,
  rows,
  empty = "There are no triples here.",
  onChoose,
  onNode,
}: {
  graph: Graph;
  /** The edges to list, where not all are. */
  listed?: Edge[];
  label: string;
  /** How many rows the picture is to have room for, where another one will take its place. */
  rows?: number | undefined;
  empty?: string;
  onChoose?: (edge: Edge) => void;
  onNode?: (name: string) => void;
}) {
  const [near, setNear] = useState<string | null>(null);
  const edge = graph.edges.find((candidate) => candidate.id === near);
  return (
    <div class="graph-and-list">
      <div class="graph-side">
        <GraphPicture
          graph={graph}
          label={`${label}, drawn: ${count(graph.edges.length, "triple")}. The list beside it holds the same.`}
          near={near}
          {...(rows === undefined ? {} : { rows })}
          onNear={setNear}
          onEdge={(id) => {
            const chosen = graph.edges.find((candidate) => candidate.id === id);
            if (chosen) {
              onChoose?.(chosen);
            }
          }}
          onNode={onNode}
        />
        {edge ? (
          <div class={`graph-tip mark-${edge.mark}`} aria-hidden="true">
            <p>
              <EdgeLine edge={edge} />
            </p>
            {edge.evidence.slice(0, few).map((item) =>
              item.triple ? (
                <p key={JSON.stringify(item.triple)} class="graph-tip-evidence">
                  rests on <TripleView triple={item.triple} links={false} /> {score(item.score)}
                </p>
              ) : null,
            )}
          </div>
        ) : (
          <p class="graph-tip hint">
            Point at a triple to see what it rests on; choose it to see what lies around it.
          </p>
        )}
      </div>
      <div class="list-side">
        {listed.length ? (
          <TripleList
            edges={listed}
            label={label}
            near={near}
            onNear={setNear}
            {...(onChoose ? { onChoose } : {})}
          />
        ) : (
          <p class="muted">{empty}</p>
        )}
      </div>
    </div>
  );
}
