import { refOf } from "./form";

/** Chooses the knowledge graphs to read; evidence says which one holds it. */
export function KgChoice({
  known,
  pending,
  chosen,
  onChange,
}: {
  known: string[];
  /** Whether more may become known. */
  pending: boolean;
  chosen: string[];
  onChange: (kgs: string[]) => void;
}) {
  // One that the address names with its snapshot stands as it is.
  const named = new Set(chosen.map((kg) => refOf(kg).name));
  const all = [...chosen, ...known.filter((kg) => !named.has(kg))];
  if (all.length === 0) {
    return (
      <p class="hint composer-nokg">
        {pending ? "Looking for knowledge graphs…" : "No knowledge graph is loaded yet."}
      </p>
    );
  }
  // Nothing chosen reads the first: the box says so.
  const first = chosen.length === 0 ? all[0] : undefined;
  return (
    <fieldset class="choice kg-choice">
      <legend>{all.length > 1 ? "Knowledge graphs" : "Knowledge graph"}</legend>
      <div class="kg-boxes">
        {all.map((kg) => {
          const checked = chosen.includes(kg) || kg === first;
          return (
            <label key={kg} class="kg-box">
              <input
                type="checkbox"
                checked={checked}
                onChange={() => {
                  const current = chosen.length ? chosen : all.slice(0, 1);
                  onChange(checked ? current.filter((other) => other !== kg) : [...current, kg]);
                }}
              />
              {kg}
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
