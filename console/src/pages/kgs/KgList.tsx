import { href } from "../../app/router";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { bytes, toNumber } from "../../format/quantity";
import { count } from "../../format/text";
import { moment } from "../../format/time";
import { Badge } from "../../ui/Badge";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { LoadForm } from "./LoadForm";
import { type Kg, kgsOf, numberOf } from "./snapshots";

/** The knowledge graphs, and a way to a new one. */
export function KgList() {
  const api = useApi();
  const { value, error, pending, again } = useCall((signal) => api.kgs(undefined, { signal }), []);
  const kgs = kgsOf(value?.snapshots);
  return (
    <section class="page">
      <h1>Knowledge graphs</h1>
      {error !== undefined ? (
        <ErrorBox error={error} doing="Listing the knowledge graphs" retry={again} />
      ) : null}
      {pending && !value ? <Spinner label="Listing the knowledge graphs" /> : null}
      {kgs.length > 0 ? (
        <ul class="kg-list">
          {kgs.map((kg) => (
            <li key={kg.name}>
              <Card kg={kg} />
            </li>
          ))}
        </ul>
      ) : value ? (
        <p class="muted">There is none yet. Load a file of facts to begin with.</p>
      ) : null}
      <section class="card" aria-labelledby="load-new">
        <h2 id="load-new">Load a file</h2>
        <LoadForm onLoaded={again} />
      </section>
    </section>
  );
}

function Card({ kg }: { kg: Kg }) {
  const { active } = kg;
  return (
    <article class="card kg-card">
      <h2>
        <a href={href(["kgs", kg.name])}>{kg.name}</a>
      </h2>
      {active ? (
        <>
          <p class="kg-numbers">
            <span>{count(toNumber(active.triples), "triple")}</span>
            <span>{count(toNumber(active.entities), "entity", "entities")}</span>
            <span>{count(toNumber(active.relations), "relation")}</span>
          </p>
          <p class="muted">
            Snapshot {numberOf(active)} of {kg.snapshots.length}
            {active.createTime ? `, built ${moment(active.createTime)}` : ""}
            {active.bytes ? `, ${bytes(active.bytes)}` : ""}
          </p>
        </>
      ) : (
        <p>
          <Badge tone="delete" icon="warning">
            No active snapshot
          </Badge>
        </p>
      )}
      {active?.shared ? (
        <p>
          <Badge tone="graph">Shared</Badge>
        </p>
      ) : null}
    </article>
  );
}
