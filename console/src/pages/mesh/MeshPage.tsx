import { useEffect } from "preact/hooks";
import type { StageHealth } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { elapsed, milliseconds } from "../../format/quantity";
import { count } from "../../format/text";
import { Badge } from "../../ui/Badge";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { Who } from "./Who";
import "./mesh.css";

/** How often the mesh is asked how it is, in milliseconds. */
const every = 5000;

/** How the mesh is, and who the reader is to it. */
export default function MeshPage() {
  const api = useApi();
  const { value, error, again } = useCall((signal) => api.mesh({ signal }), []);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || again(), every);
    return () => clearInterval(timer);
  }, [again]);
  const stages = value?.stages ?? [];
  const away = stages.filter((stage) => !stage.serving).length;
  return (
    <section class="page">
      <h1>Mesh</h1>
      {error !== undefined ? (
        <ErrorBox error={error} doing="Asking how the mesh is" retry={again} />
      ) : null}
      {value ? (
        <section class="card" aria-labelledby="stages">
          <h2 id="stages">
            {away === 0
              ? `All ${count(stages.length, "stage")} serve`
              : `${count(away, "stage")} of ${stages.length} ${away === 1 ? "does" : "do"} not serve`}
          </h2>
          <ul class="mesh-stages">
            {stages.map((stage) => (
              <Stage key={stage.stage} stage={stage} />
            ))}
          </ul>
          <p class="muted">
            {value.version ? `Version ${value.version}. ` : ""}
            {`Asked again every ${every / 1000} s. `}
            {value.traceUrl
              ? "Each run has a link to its trace."
              : "No place to look at traces is configured (orchestrator.http.trace_url)."}
          </p>
        </section>
      ) : error === undefined ? (
        <Spinner label="Asking how the mesh is" />
      ) : null}
      <Who />
    </section>
  );
}

function Stage({ stage }: { stage: StageHealth }) {
  return (
    <li>
      <span class="mesh-name">{stage.stage}</span>
      <Badge tone={stage.serving ? "graph" : "delete"} icon={stage.serving ? "check" : "close"}>
        {stage.serving ? "Serves" : "Away"}
      </Badge>
      <span class="muted figures">{stage.latency ? elapsed(milliseconds(stage.latency)) : ""}</span>
      {stage.error ? <span class="mesh-error">{stage.error}</span> : null}
    </li>
  );
}
