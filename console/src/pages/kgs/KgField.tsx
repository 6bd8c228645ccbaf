import { useEffect } from "preact/hooks";
import type { SnapshotInfo } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { ErrorBox } from "../../ui/ErrorBox";

/** The names of knowledge graphs that questions can be asked of: those with an active snapshot. */
export function askable(snapshots: SnapshotInfo[] | undefined): string[] {
  const names = (snapshots ?? []).filter((s) => s.active).map((s) => s.kg?.name ?? "");
  return [...new Set(names)].filter(Boolean);
}

/** Chooses a knowledge graph; where none is chosen yet, the first. */
export function KgField({ value, onChange }: { value: string; onChange: (kg: string) => void }) {
  const api = useApi();
  const {
    value: listed,
    error,
    pending,
    again,
  } = useCall((signal) => api.kgs(undefined, { signal }), []);
  const names = askable(listed?.snapshots);
  const first = names[0];
  useEffect(() => {
    if (!value && first) {
      onChange(first);
    }
  }, [value, first, onChange]);
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
        {(value && !names.includes(value) ? [value, ...names] : names).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
