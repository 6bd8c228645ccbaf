import { readKgs } from "../../run/useMesh";
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
  const read = readKgs({ kgs: all }, chosen);
  return (
    <fieldset class="choice kg-choice">
      <legend>{all.length > 1 ? "Knowledge graphs" : "Knowledge graph"}</legend>
      <div class="kg-boxes">
        {all.map((kg) => {
          const checked = read.includes(kg);
          return (
            <label key={kg} class="kg-box">
              <input
                type="checkbox"
                checked={checked}
                onChange={() =>
                  onChange(checked ? read.filter((other) => other !== kg) : [...read, kg])
                }
              />
              {kg}
            </label>
          );
        })}
      </div>
      {read.length === 0 ? <p class="hint">Choose which to read.</p> : null}
    </fieldset>
  );
}
