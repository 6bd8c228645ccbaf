import { score } from "../format/quantity";
import { TripleView } from "../ui/TripleView";
import type { Edge } from "./graph";
import { marks } from "./style";
import "./triple-list.css";

/**
 * The triples of a picture as a list: the same with keyboard and ear. A triple
 * that has the focus stands out in the picture, and the other way round.
 */
export function TripleList({
  edges,
  label,
  near,
  onNear,
  onChoose,
}: {
  edges: Edge[];
  label: string;
  near?: string | null;
  onNear?: (id: string | null) => void;
  onChoose?: (edge: Edge) => void;
}) {
  return (
    <ul class="triples" aria-label={label}>
      {edges.map((edge) => (
        <li key={edge.id}>
          <button
            type="button"
            class={`triples-row mark-${edge.mark}${near === edge.id ? " near" : ""}`}
            onClick={() => onChoose?.(edge)}
            onMouseEnter={() => onNear?.(edge.id)}
            onMouseLeave={() => onNear?.(null)}
            onFocus={() => onNear?.(edge.id)}
            onBlur={() => onNear?.(null)}
          >
            <EdgeLine edge={edge} />
          </button>
        </li>
      ))}
    </ul>
  );
}

/**
 * An edge in words: its mark, its triple, what stands in its place, its score. Rows are buttons,
 * so that links are left out unless they are asked for.
 */
export function EdgeLine({ edge, links = false }: { edge: Edge; links?: boolean }) {
  const mark = marks[edge.mark];
  return (
    <>
      <span class="triples-sign" aria-hidden="true">
        {mark.sign || "·"}
      </span>
      <span class="triples-words">
        <span class="unseen">{`${mark.label}: `}</span>
        {edge.mark === "replacing" && edge.instead ? (
          <>
            <s>
              <TripleView triple={edge.instead} showKg={false} links={links} />
            </s>
            <span class="unseen"> by </span>
          </>
        ) : null}
        {edge.mark === "delete" || edge.mark === "replaced" ? (
          <s>
            <TripleView triple={edge.triple} links={links} />
          </s>
        ) : (
          <TripleView triple={edge.triple} links={links} />
        )}
        {edge.mark === "keep" && edge.evidence.length === 0 ? (
          <span class="triples-note">nothing supports it</span>
        ) : null}
      </span>
      {edge.score !== undefined ? (
        <span class="triples-score">
          <span class="unseen">score </span>
          {score(edge.score)}
        </span>
      ) : null}
    </>
  );
}
