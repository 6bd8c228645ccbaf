import type { RelationPath } from "../api/messages";
import { Name } from "../ui/Name";

/** A relation path on a line: r1 → r2; a relation that is followed backwards says so. */
export function RelationPathView({ path }: { path: Pick<RelationPath, "steps"> }) {
  return (
    <span class="relation-path">
      {path.steps?.map((step, i) => (
        <span key={i}>
          {i ? " → " : ""}
          {step.inverse ? <span class="muted">inverse of </span> : null}
          <span class="triple-relation">
            <Name>{step.relation ?? ""}</Name>
          </span>
        </span>
      ))}
    </span>
  );
}
