import { useEffect, useRef, useState } from "preact/hooks";
import type {
  LoadKnowledgeGraphStreamResponse,
  LoadMode,
  LoadPhase,
  LoadResponse,
  Vectors,
} from "../../api/messages";
import { href } from "../../app/router";
import { useApi } from "../../app/services";
import { useStream } from "../../app/useStream";
import { toNumber } from "../../format/quantity";
import { count } from "../../format/text";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { Progress } from "../../ui/Progress";
import { Spinner } from "../../ui/Spinner";
import { numberOf } from "./snapshots";
import { TableFields } from "./TableFields";
import { useTable } from "./useTable";

const phases: Record<LoadPhase, string> = {
  LOAD_PHASE_UNSPECIFIED: "Loading",
  LOAD_PHASE_READ: "Reading lines",
  LOAD_PHASE_SORT: "Sorting triples",
  LOAD_PHASE_ENCODE: "Encoding triples",
  LOAD_PHASE_WRITE: "Writing the snapshot",
};

/** Loads a file, into the knowledge graph given or into one of a name to be typed. */
export function LoadForm({ kg, onLoaded }: { kg?: string; onLoaded: () => void }) {
  const api = useApi();
  const [name, setName] = useState(kg ?? "");
  const [file, setFile] = useState<File>();
  const [mode, setMode] = useState<LoadMode>("LOAD_MODE_REPLACE");
  const [vectors, setVectors] = useState<Vectors>("VECTORS_ALL");
  const [provenance, setProvenance] = useState(false);
  const table = useTable(file);
  const { streamed, start, stop } = useStream<LoadKnowledgeGraphStreamResponse>();
  const { running = false, error, seen: { progress, result } = {} } = streamed ?? {};
  const told = useRef<LoadResponse>(undefined);
  useEffect(() => {
    if (result && told.current !== result) {
      told.current = result;
      onLoaded();
    }
  }, [result, onLoaded]);
  return (
    <form
      class="load-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (file) {
          void start((signal) =>
            api.load(name, file, { mode, vectors, provenance, ...table.options }, { signal }),
          );
        }
      }}
    >
      <div class="load-fields">
        {kg ? null : (
          <label class="field">
            Name
            <input
              type="text"
              required
              pattern="[a-z][a-z0-9_\-]{0,62}"
              value={name}
              title="a lower-case word: letters, digits, hyphens and underscores, a letter first"
              onInput={(event) => setName(event.currentTarget.value)}
            />
            <span class="hint">A lower-case word, such as films.</span>
          </label>
        )}
        <label class="field">
          File
          <input
            type="file"
            required
            accept=".tsv,.csv,.nt,.nq,.ttl,.jsonld,.json,.gz"
            onChange={(event) => setFile(event.currentTarget.files?.[0])}
          />
          <span class="hint">
            TSV, CSV, N-Triples, N-Quads, Turtle, JSON-LD or Wikidata JSON; .gz too.
          </span>
        </label>
        <label class="field">
          What becomes of the triples there are
          <select value={mode} onChange={(event) => setMode(event.currentTarget.value as LoadMode)}>
            <option value="LOAD_MODE_REPLACE">Replaced by the file’s</option>
            <option value="LOAD_MODE_ADD">Kept; the file’s are added</option>
            <option value="LOAD_MODE_REMOVE">Kept, without the file’s</option>
          </select>
        </label>
        <label class="field">
          Vectors
          <select
            value={vectors}
            onChange={(event) => setVectors(event.currentTarget.value as Vectors)}
          >
            <option value="VECTORS_ALL">One for each triple</option>
            <option value="VECTORS_NONE">Relations only, for very large graphs</option>
          </select>
        </label>
      </div>
      <TableFields table={table} />
      <label class="check-field">
        <input
          type="checkbox"
          checked={provenance}
          onChange={(event) => setProvenance(event.currentTarget.checked)}
        />
        <span>
          Keep provenance
          <span class="hint">
            Evidence then shows where a triple comes from: its named graph or statement, or its file
            and line. The snapshot gets larger.
          </span>
        </span>
      </label>
      <p>
        {running ? (
          <button key="stop" type="button" class="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button
            key="load"
            type="submit"
            class="button primary"
            disabled={!file || !name || table.pending}
          >
            Load
          </button>
        )}
      </p>
      {running && !result ? (
        progress ? (
          <Progress
            label={phases[progress.phase ?? "LOAD_PHASE_UNSPECIFIED"]}
            done={toNumber(progress.done)}
            total={toNumber(progress.total)}
          />
        ) : (
          <Spinner label="Sending the file" />
        )
      ) : null}
      {error !== undefined ? <ErrorBox error={error} doing="Loading the file" /> : null}
      {result ? <Built result={result} /> : null}
    </form>
  );
}

/** What a load has built. */
function Built({ result }: { result: LoadResponse }) {
  const { snapshot, errors } = result;
  const name = snapshot?.kg?.name ?? "";
  const bad = toNumber(result.badLines);
  const duplicates = toNumber(result.duplicates);
  return (
    <div class="load-result" role="status">
      <p>
        <Icon name="check" />{" "}
        <a href={href(["kgs", name])}>{`${name}@${snapshot ? numberOf(snapshot) : "?"}`}</a> was
        built of {count(toNumber(result.lines), "line")}:{" "}
        {count(toNumber(snapshot?.triples), "triple")}
        {duplicates ? `, ${count(duplicates, "duplicate")} left out` : ""}
        {bad ? `, ${count(bad, "bad line")} left out` : ""}.
      </p>
      {errors?.length ? (
        <ul class="load-errors">
          {errors.map((e) => (
            <li key={`${e.file} ${e.line} ${e.byte}`}>
              <code>{`${e.file}:${e.line ?? `byte ${e.byte ?? 0}`}`}</code> {e.message}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
