import { useEffect, useState } from "preact/hooks";
import { useServices } from "../../app/services";
import { Found } from "./Found";
import { Neighbourhood } from "./Neighbourhood";

/** Looks into a knowledge graph: by words, or around an entity. */
export function Browse({ kg, query }: { kg: string; query: URLSearchParams }) {
  const { router } = useServices();
  const words = query.get("words") ?? "";
  const entity = query.get("entity") ?? "";
  const snapshot = query.get("snapshot") ?? "";
  const [typed, type] = useState(words);
  // The back button changes the address alone.
  useEffect(() => type(words), [words]);
  return (
    <div class="browse">
      <search>
        <form
          class="browse-form"
          onSubmit={(event) => {
            event.preventDefault();
            router.go(["kgs", kg], { words: typed.trim(), snapshot });
          }}
        >
          <label class="field">
            Find entities, triples and relations
            <input
              type="search"
              dir="auto"
              value={typed}
              maxLength={1000}
              placeholder="Alexander"
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
          <button type="submit" class="button primary" disabled={!typed.trim()}>
            Search
          </button>
        </form>
      </search>
      {snapshot ? (
        <p class="muted">
          Triples are those of snapshot {snapshot}. <a href={`#/kgs/${kg}`}>Read the active one</a>
        </p>
      ) : null}
      {entity ? (
        <Neighbourhood key={entity} kg={kg} snapshot={snapshot} entity={entity} />
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
