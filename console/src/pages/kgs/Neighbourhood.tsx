import { useState } from "preact/hooks";
import type { RelationCount, Triple } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { toNumber } from "../../format/quantity";
import { count, number } from "../../format/text";
import { EntityId } from "../../ui/EntityId";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { TripleRow } from "./TripleRow";

/** How many triples are shown at first. */
const first = 100;

/** The most that one answer has. */
const most = 10_000;

/** The triples around an entity, those that tell of it and those that lead to it. */
export function Neighbourhood({
  kg,
  snapshot,
  entity,
}: {
  kg: string;
  snapshot: string;
  entity: string;
}) {
  const api = useApi();
  const [relation, choose] = useState("");
  const [limit, setLimit] = useState(first);
  const { value, error, pending, again } = useCall(
    (signal) =>
      api.neighbours(
        kg,
        { entity, limit, relations: relation ? [relation] : [] },
        { signal, snapshot },
      ),
    [kg, snapshot, entity, relation, limit],
  );
  // The relations of the first answer, which no choice narrows.
  const whole = useCall(
    (signal) => api.neighbours(kg, { entity, relationsOnly: true }, { signal, snapshot }),
    [kg, snapshot, entity],
  );
  const triples = value?.triples ?? [];
  // The address may hold an id.
  const name = value?.entity?.name || entity;
  const out = triples.filter((triple) => triple.subject === name);
  const into = triples.filter((triple) => triple.subject !== name);
  const total = toNumber(value?.total);
  return (
    <article class="neighbourhood" aria-busy={pending}>
      <h2 dir="auto">{name}</h2>
      <EntityId entity={value?.entity} />
      {error !== undefined ? (
        <ErrorBox error={error} doing={`Looking around ${entity}`} retry={again} />
      ) : null}
      <RelationField
        relations={whole.value?.relations ?? []}
        value={relation}
        onChange={(name) => {
          choose(name);
          setLimit(first);
        }}
      />
      {value ? (
        <>
          <Side title="Tells of it" triples={out} kg={kg} snapshot={snapshot} />
          <Side title="Leads to it" triples={into} kg={kg} snapshot={snapshot} />
          {total > triples.length && limit < most ? (
            <button
              type="button"
              class="button"
              disabled={pending}
              onClick={() => setLimit(Math.min(most, limit * 5))}
            >
              {`Show more of ${number(total)}`}
            </button>
          ) : null}
        </>
      ) : pending ? (
        <Spinner label="Looking around" />
      ) : null}
    </article>
  );
}

function RelationField({
  relations,
  value,
  onChange,
}: {
  relations: RelationCount[];
  value: string;
  onChange: (relation: string) => void;
}) {
  const names = new Map<string, number>();
  for (const { relation = "", triples } of relations) {
    names.set(relation, (names.get(relation) ?? 0) + toNumber(triples));
  }
  return (
    <label class="field neighbourhood-relation">
      Relation
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">All</option>
        {[...names].map(([name, n]) => (
          <option key={name} value={name}>
            {`${name} (${number(n)})`}
          </option>
        ))}
      </select>
    </label>
  );
}

function Side({
  title,
  triples,
  kg,
  snapshot,
}: {
  title: string;
  triples: Triple[];
  kg: string;
  snapshot: string;
}) {
  return (
    <section class="card" aria-label={title}>
      <h3>{title}</h3>
      {triples.length === 0 ? (
        <p class="muted">Nothing.</p>
      ) : (
        <table>
          <caption class="muted">{count(triples.length, "triple")}</caption>
          <tbody>
            {triples.map((triple, place) => (
              <TripleRow key={place} kg={kg} snapshot={snapshot} triple={triple} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
