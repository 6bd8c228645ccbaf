import type { TogGraphs } from "../api/messages";
import { percent } from "../format/quantity";
import { count } from "../format/text";
import { Badge } from "../ui/Badge";
import { RelationPathView } from "./RelationPathView";

/** The hops of ToG's beam: which relations were kept, and whether that was enough. */
export function DepthsView({ graphs }: { graphs: TogGraphs }) {
  const depths = graphs.depths ?? [];
  if (depths.length === 0) {
    return null;
  }
  return (
    <section class="card" aria-label="Hops">
      <header class="section-head">
        <h2>Hop by hop</h2>
      </header>
      <ol class="plans">
        {depths.map((depth, i) => (
          <li key={i}>
            {count(depth.entities ?? 0, "entity", "entities")},{" "}
            {count(depth.reasoningPaths?.length ?? 0, "path")} kept{" "}
            <Badge
              tone={depth.sufficient ? "graph" : "keep"}
              icon={depth.sufficient ? "check" : "minus"}
            >
              {depth.sufficient ? "enough to answer" : "not enough yet"}
              {depth.probability !== undefined ? ` (${percent(depth.probability)})` : ""}
            </Badge>
            <ul>
              {depth.relations?.map((relation) => (
                <li key={JSON.stringify(relation)}>
                  <RelationPathView path={relation} />
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </section>
  );
}
