import type { Run } from "../../api/messages";
import { href } from "../../app/router";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { download } from "../../format/download";
import { moment } from "../../format/time";
import { RunView } from "../../run/RunView";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { Spinner } from "../../ui/Spinner";
import { markdownOf } from "./markdown";
import { Waterfall } from "./Waterfall";

/** One answered question. */
export function RunPage({ id }: { id: string }) {
  const api = useApi();
  const { value, error, again } = useCall((signal) => api.run(id, { signal }), [id]);
  const { value: mesh } = useCall((signal) => api.mesh({ signal }), []);
  const run = value?.run;
  return (
    <section class="page">
      <p>
        <a href="#/runs">All runs</a>
      </p>
      {error !== undefined ? (
        <>
          <h1>Run {id}</h1>
          <ErrorBox error={error} doing="Reading the run" retry={again} />
        </>
      ) : run ? (
        <>
          <header class="runs-head">
            <h1 dir="auto">{run.question}</h1>
            <p class="muted">
              <time dateTime={run.startTime}>{moment(run.startTime)}</time>
            </p>
            <Actions run={run} />
          </header>
          <RunView run={run} traceUrl={mesh?.traceUrl} />
          {run.spans?.length ? <Waterfall spans={run.spans} /> : null}
        </>
      ) : (
        <Spinner label="Reading the run" />
      )}
    </section>
  );
}

/** What can be done with a run. */
function Actions({ run }: { run: Run }) {
  const kgs = [run.kg, ...(run.otherKgs ?? [])].map((kg) => kg?.name ?? "").filter(Boolean);
  const asked = { q: run.question ?? "", method: run.method ?? "", kg: kgs.join(",") };
  return (
    <div class="runs-actions">
      <a class="button small" href={href(["ask"], asked)}>
        <Icon name="play" size={16} /> Ask again
      </a>
      <button
        type="button"
        class="button small"
        onClick={() => download(`${run.id}.json`, "application/json", JSON.stringify(run, null, 2))}
      >
        <Icon name="download" size={16} /> JSON
      </button>
      <button
        type="button"
        class="button small"
        onClick={() => download(`${run.id}.md`, "text/markdown", markdownOf(run))}
      >
        <Icon name="download" size={16} /> Markdown
      </button>
    </div>
  );
}
