import { useEffect } from "preact/hooks";
import type { Run } from "../../api/messages";
import { href } from "../../app/router";
import { useApi, useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { useTyped } from "../../app/useTyped";
import { elapsed, milliseconds } from "../../format/quantity";
import { count } from "../../format/text";
import { moment } from "../../format/time";
import { GroundingBadge } from "../../run/GroundingBadge";
import { ErrorBox } from "../../ui/ErrorBox";
import { Name } from "../../ui/Name";
import { Spinner } from "../../ui/Spinner";
import { useRuns } from "./useRuns";

/** How long typing must rest before it is searched for, in milliseconds. */
const rest = 300;

/** Finds runs by their words, their method and their knowledge graph. */
export function RunList({ query }: { query: URLSearchParams }) {
  const { router } = useServices();
  const filter = {
    query: query.get("query") ?? "",
    method: query.get("method") ?? "",
    kgName: query.get("kg") ?? "",
  };
  // By the address as it is then: words come later than they are typed.
  const narrow = (change: Record<string, string>) =>
    router.replace(["runs"], { ...Object.fromEntries(router.place.value.query), ...change });
  const { runs, next, pending, error, more } = useRuns(filter);
  const filtered = filter.query || filter.method || filter.kgName;
  return (
    <section class="page">
      <h1>Runs</h1>
      <search>
        <form class="runs-filter" onSubmit={(event) => event.preventDefault()}>
          <Words value={filter.query} onRest={(words) => narrow({ query: words })} />
          <MethodField value={filter.method} onChange={(method) => narrow({ method })} />
          <KgNameField value={filter.kgName} onChange={(kg) => narrow({ kg })} />
        </form>
      </search>
      <p class="unseen" role="status">
        {pending ? "" : `${count(runs.length, "run")} shown`}
      </p>
      {runs.length > 0 ? (
        <ul class="runs-list">
          {runs.map((run) => (
            <li key={run.id}>
              <RunRow run={run} />
            </li>
          ))}
        </ul>
      ) : null}
      {error !== undefined ? (
        <ErrorBox error={error} doing="Listing the runs" retry={more} />
      ) : pending ? (
        <Spinner label="Looking for runs" />
      ) : runs.length === 0 ? (
        <p class="muted">
          {filtered ? (
            "No run has all of that."
          ) : (
            <>
              No question was asked yet: <a href="#/ask">ask one</a>.
            </>
          )}
        </p>
      ) : next ? (
        <button type="button" class="button" onClick={more}>
          Show older runs
        </button>
      ) : null}
    </section>
  );
}

function RunRow({ run }: { run: Run }) {
  const answers = (run.answers ?? []).map((answer) => answer.answer ?? "");
  return (
    <article class="card runs-row">
      <h2>
        <a href={href(["runs", run.id ?? ""])}>
          <Name most={200}>{run.question ?? ""}</Name>
        </a>
      </h2>
      <p class="runs-answers">
        {answers.length > 0 ? (
          answers.slice(0, 6).map((answer, place) => (
            <span key={place} class="runs-answer">
              <Name>{answer}</Name>
            </span>
          ))
        ) : (
          <span class="muted">
            <Name most={120}>{run.text || "No answer"}</Name>
          </span>
        )}
        {answers.length > 6 ? <span class="muted">{`and ${answers.length - 6} more`}</span> : null}
      </p>
      <p class="runs-facts">
        {run.grounding ? <GroundingBadge grounding={run.grounding} /> : null}
        <span class="figures">{run.method}</span>
        {run.kg ? <span class="figures">{`${run.kg.name}@${run.kg.snapshot ?? "0"}`}</span> : null}
        <span class="muted">{elapsed(milliseconds(run.duration))}</span>
        <time class="muted" dateTime={run.startTime}>
          {moment(run.startTime)}
        </time>
      </p>
    </article>
  );
}

function Words({ value, onRest }: { value: string; onRest: (words: string) => void }) {
  const [typed, type] = useTyped(value);
  useEffect(() => {
    if (typed === value) {
      return;
    }
    const timer = setTimeout(() => onRest(typed), rest);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <label class="field runs-words">
      Words in the question or the answer
      <input
        type="search"
        dir="auto"
        value={typed}
        maxLength={256}
        onInput={(event) => type(event.currentTarget.value)}
      />
    </label>
  );
}

function MethodField({ value, onChange }: { value: string; onChange: (method: string) => void }) {
  const api = useApi();
  const { value: listed } = useCall((signal) => api.methods({ signal }), []);
  const names = (listed?.methods ?? []).map((method) => method.name ?? "");
  return <Choice label="Method" names={names} value={value} onChange={onChange} />;
}

function KgNameField({ value, onChange }: { value: string; onChange: (kg: string) => void }) {
  const api = useApi();
  const { value: listed } = useCall((signal) => api.kgs(undefined, { signal }), []);
  const names = (listed?.snapshots ?? []).map((snapshot) => snapshot.kg?.name ?? "");
  return <Choice label="Knowledge graph" names={names} value={value} onChange={onChange} />;
}

function Choice({
  label,
  names,
  value,
  onChange,
}: {
  label: string;
  names: string[];
  value: string;
  onChange: (name: string) => void;
}) {
  // What the address asks for can be chosen although the mesh no longer has it.
  const all = [...new Set(value ? [...names, value] : names)];
  return (
    <label class="field">
      {label}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All</option>
        {all.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
