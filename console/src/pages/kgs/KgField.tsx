import { useEffect } from "preact/hooks";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { ErrorBox } from "../../ui/ErrorBox";
import { askable } from "./snapshots";

/** Chooses a knowledge graph; where there is only one, that. */
export function KgField({ value, onChange }: { value: string; onChange: (kg: string) => void }) {
  const api = useApi();
  const {
    value: listed,
    error,
    pending,
    again,
  } = useCall((signal) => api.kgs(undefined, { signal }), []);
  const names = askable(listed?.snapshots);
  const only = names.length === 1 ? names[0] : undefined;
  useEffect(() => {
    if (!value && only) {
      onChange(only);
    }
  }, [value, only, onChange]);
  if (error !== undefined) {
    return <ErrorBox error={error} doing="Listing the knowledge graphs" retry={again} />;
  }
  if (!pending && names.length === 0) {
    return (
      <p>
        No knowledge graph is loaded yet: <a href="#/kgs">load a file</a> first.
      </p>
    );
  }
  return (
    <label class="field">
      Knowledge graph
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {value ? null : <option value="">Choose one</option>}
        {(value && !names.includes(value) ? [value, ...names] : names).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
