import type { EditCounts } from "../graph/diff";
import type { Mark } from "../graph/graph";
import { marks } from "../graph/style";

const kinds: { mark: Mark; of: keyof EditCounts; tone: string }[] = [
  { mark: "keep", of: "keep", tone: "keep" },
  { mark: "replacing", of: "replace", tone: "replace" },
  { mark: "add", of: "add", tone: "add" },
  { mark: "delete", of: "delete", tone: "delete" },
];

/** How many triples verification kept, replaced, added and deleted: the picture's legend too. */
export function EditCountsView({ counts }: { counts: EditCounts }) {
  return (
    <ul class="edit-counts" aria-label="Edits">
      {kinds.map(({ mark, of, tone }) => (
        <li key={of} class={`tone-${tone}`}>
          <span class={`edit-line line-${marks[mark].line}`} aria-hidden="true" />
          <b aria-hidden="true">{marks[mark].sign}</b>{" "}
          {`${counts[of]} ${marks[mark].label === "replacement" ? "replaced" : marks[mark].label}`}
        </li>
      ))}
    </ul>
  );
}
