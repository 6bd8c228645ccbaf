import { href } from "../../app/router";
import { EntityPage } from "./EntityPage";
import { Found } from "./Found";
import { SearchBox } from "./SearchBox";

/** Looks into a knowledge graph: by words, or around an entity. */
export function Browse({ kg, query }: { kg: string; query: URLSearchParams }) {
  const words = query.get("words") ?? "";
  const entity = query.get("entity") ?? "";
  const snapshot = query.get("snapshot") ?? "";
  return (
    <div class="browse">
      <SearchBox kg={kg} snapshot={snapshot} words={words} />
      {snapshot ? (
        <p class="muted">
          Triples are those of snapshot {snapshot}.{" "}
          <a href={href(["kgs", kg])}>Read the active one</a>
        </p>
      ) : null}
      {entity ? (
        <EntityPage key={entity} kg={kg} snapshot={snapshot} entity={entity} query={query} />
      ) : words ? (
        <Found key={words} kg={kg} snapshot={snapshot} words={words} />
      ) : (
        <p class="muted">
          Type a name, or what it is about: entities are found by how they are written, triples and
          relations by what they mean.
        </p>
      )}
    </div>
  );
}
