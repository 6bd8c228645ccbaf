import { useId } from "preact/hooks";
import type { Method } from "../../api/messages";
import { stageNames } from "../../run/stages";
import { type AskForm, optional } from "./form";

/** What may be set beside the question; every field left empty is the mesh's choice. */
export function Options({
  form,
  method,
  onChange,
}: {
  form: AskForm;
  method: Method | undefined;
  onChange: (part: Partial<AskForm>) => void;
}) {
  const set = optional.filter((field) => form[field] !== "").length;
  const field = (name: Exclude<keyof AskForm, "kgs">) => ({
    value: form[name],
    onChange: (value: string) => onChange({ [name]: value }),
  });
  return (
    <details class="fold options">
      <summary>{`Options${set ? ` (${set} set)` : ""}`}</summary>
      <div class="options-grid">
        <Choice
          label="Verification"
          {...field("verification")}
          choices={[
            ["", "as configured"],
            ["VERIFICATION_MODE_ALIGN", "align: by cosine, no model"],
            ["VERIFICATION_MODE_EDITS", "edits: the model edits"],
            ["VERIFICATION_MODE_REWRITE", "rewrite: as published"],
          ]}
        />
        <Choice
          label="Grounding"
          {...field("preset")}
          choices={[
            ["", "as configured"],
            ["PRESET_DEFAULT", "default: calibrated"],
            ["PRESET_PAPER", "paper: as published"],
          ]}
        />
        <Figure
          label="Least confidence of subjects"
          hint="-1 to 1"
          {...field("minConfidence")}
          min={-1}
          max={1}
          step={0.01}
        />
        <Figure
          label="Abstain below"
          hint="confidence, 0 to 1"
          {...field("abstainBelow")}
          min={0}
          max={1}
          step={0.01}
        />
        <Words label="At date" hint="ISO 8601: 2005 or 2005-03-01" {...field("at")} />
        <Choice
          label="Stop after"
          {...field("until")}
          choices={[
            ["", "the answer"],
            ...(method?.stages ?? []).map((stage): [string, string] => [
              stage,
              stageNames[stage].name.toLowerCase(),
            ]),
          ]}
        />
        <Figure label="Most model calls" {...field("maxCalls")} min={1} step={1} />
        <Figure
          label="Most tokens"
          hint="read and written"
          {...field("maxTokens")}
          min={1}
          step={1}
        />
        <Figure label="Most US dollars" {...field("maxCost")} min={0} step={0.001} />
        <Lines
          label="Topic entities"
          hint="one a line; else the question is linked"
          {...field("topics")}
        />
        {["auto", "query"].includes(form.method) ? (
          <Lines
            label="Plan"
            hint="in place of the model's: its notation, or Cypher"
            {...field("plan")}
          />
        ) : null}
      </div>
    </details>
  );
}

type Field = { label: string; hint?: string; value: string; onChange: (value: string) => void };

function Choice({
  label,
  value,
  onChange,
  choices,
}: Field & { choices: [value: string, label: string][] }) {
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

function Figure({
  label,
  hint,
  value,
  onChange,
  ...bounds
}: Field & { min?: number; max?: number; step?: number }) {
  const id = useId();
  return (
    <div>
      <label for={id}>
        {label} {hint ? <span class="hint inline">{hint}</span> : null}
      </label>
      <input
        id={id}
        type="number"
        {...bounds}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

function Words({ label, hint, value, onChange }: Field) {
  const id = useId();
  return (
    <div>
      <label for={id}>
        {label} <span class="hint inline">{hint}</span>
      </label>
      <input
        id={id}
        type="text"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}

function Lines({ label, hint, value, onChange }: Field) {
  const id = useId();
  return (
    <div>
      <label for={id}>
        {label} <span class="hint inline">{hint}</span>
      </label>
      <textarea
        id={id}
        rows={2}
        dir="auto"
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </div>
  );
}
