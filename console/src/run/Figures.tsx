import type { Run } from "../api/messages";
import { href } from "../app/router";
import { dollars, elapsed, milliseconds, toNumber } from "../format/quantity";
import { count, number } from "../format/text";
import { moment } from "../format/time";
import { traceLink } from "./trace";

/** What a run took and cost, which graphs it read, and where more of it is found. */
export function Figures({ run, traceUrl }: { run: Run; traceUrl?: string | undefined }) {
  const usage = run.usage ?? {};
  const kgs = [run.kg, ...(run.otherKgs ?? [])].filter((kg) => kg !== undefined);
  const trace = traceLink(traceUrl, run.traceId);
  const cost = toNumber(usage.costUsd);
  return (
    <dl class="run-figures">
      <Figure name="Method">{run.method}</Figure>
      {run.duration ? <Figure name="Time">{elapsed(milliseconds(run.duration))}</Figure> : null}
      {run.usage ? (
        <Figure name="Model calls">{`${number(usage.calls ?? 0)}${usage.cachedCalls ? ` + ${usage.cachedCalls} cached` : ""}`}</Figure>
      ) : null}
      {run.usage ? (
        <Figure name="Tokens">
          {`${count(toNumber(usage.promptTokens), "read", "read")} · ${count(toNumber(usage.completionTokens), "written", "written")}`}
        </Figure>
      ) : null}
      {cost ? <Figure name="Cost">{dollars(cost)}</Figure> : null}
      {usage.models?.length ? <Figure name="Model">{usage.models.join(", ")}</Figure> : null}
      {kgs.length ? (
        <Figure name={kgs.length > 1 ? "Knowledge graphs" : "Knowledge graph"}>
          {kgs.map((kg, i) => (
            <>
              {i ? ", " : ""}
              <a href={href(["kgs", kg.name ?? ""])}>{`${kg.name}@${kg.snapshot ?? "?"}`}</a>
            </>
          ))}
        </Figure>
      ) : null}
      {run.startTime ? <Figure name="Asked">{moment(run.startTime)}</Figure> : null}
      {run.id ? (
        <Figure name="Run">
          <a href={href(["runs", run.id])}>{run.id}</a>
        </Figure>
      ) : null}
      {run.traceId ? (
        <Figure name="Trace">
          {trace ? (
            <a href={trace} target="_blank" rel="noreferrer">
              {run.traceId}
            </a>
          ) : (
            run.traceId
          )}
        </Figure>
      ) : null}
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
