import { useState } from "preact/hooks";
import type { NeighboursResponse, Triple } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { count, number } from "../../format/text";
import { ErrorBox } from "../../ui/ErrorBox";
import { Name } from "../../ui/Name";
import { Provenance } from "../../ui/Provenance";
import { Spinner } from "../../ui/Spinner";
import { EntityLink } from "./EntityLink";
import "../../ui/triple.css";
import { type Group, groupsOf, otherEnd } from "./facts";

/** How many ends a group shows at first, how many more at a time, and how many there are at most. */
const [few, page, most] = [8, 100, 10_000];

/** How many groups are shown at a time. */
const groupsAtATime = 40;

/** The facts of an entity by relation; what leads to it is "inverse of" its relation. */
export function Facts({
  kg,
  snapshot,
  found,
}: {
  kg: string;
  snapshot: string;
  found: NeighboursResponse;
}) {
  const [words, find] = useState("");
  const [shown, show] = useState(groupsAtATime);
  const all = groupsOf(found);
  const wanted = words.trim().toLowerCase();
  const groups = all.filter(({ relation }) => relation.toLowerCase().includes(wanted));
  const name = found.entity?.name ?? "";
  return (
    <div class="facts">
      {all.length > few ? (
        <label class="field facts-filter">
          Relations with
          <input
            type="search"
            value={words}
            placeholder="birth"
            onInput={(event) => find(event.currentTarget.value)}
          />
        </label>
      ) : null}
      {groups.length === 0 ? <p class="muted">No relation is written so.</p> : null}
      {groups.slice(0, shown).map((group) => (
        <GroupView
          key={`${group.inverse} ${group.relation}`}
          kg={kg}
          snapshot={snapshot}
          entity={name}
          group={group}
        />
      ))}
      {groups.length > shown ? (
        <button type="button" class="button" onClick={() => show(shown + groupsAtATime)}>
          {`Show more of ${count(groups.length, "relation")}`}
        </button>
      ) : null}
    </div>
  );
}

function GroupView({
  kg,
  snapshot,
  entity,
  group,
}: {
  kg: string;
  snapshot: string;
  entity: string;
  group: Group;
}) {
  const api = useApi();
  const { relation, inverse, total } = group;
  const [shown, show] = useState(few);
  // A sample is no page: from the second page on, all triples of the relation are at hand.
  const whole = useCall(
    shown > few && total > group.triples.length
      ? (signal) =>
          api.neighbours(
            kg,
            {
              entity,
              relations: [relation],
              direction: inverse ? "DIRECTION_IN" : "DIRECTION_OUT",
              limit: Math.min(total, most),
            },
            { signal, snapshot },
          )
      : undefined,
    [kg, snapshot, entity, relation, inverse, shown > few],
  );
  const triples = whole.value?.triples ?? group.triples;
  const at = triples.slice(0, shown);
  return (
    <section class="fact-group">
      <h3>
        {inverse ? <span class="muted">inverse of </span> : null}
        <span class="triple-relation">
          <Name>{relation}</Name>
        </span>{" "}
        <span class="figures muted">{number(total)}</span>
      </h3>
      <ul>
        {at.map((triple, place) => (
          <li key={place}>
            <End kg={kg} snapshot={snapshot} triple={triple} inverse={inverse} />
          </li>
        ))}
      </ul>
      {whole.error !== undefined ? (
        <ErrorBox error={whole.error} doing={`Reading ${relation}`} retry={whole.again} />
      ) : whole.pending ? (
        <Spinner label={`Reading ${relation}`} />
      ) : at.length < Math.min(total, most) ? (
        <button
          type="button"
          class="link-button"
          onClick={() => show(shown === few ? page : shown + page)}
        >
          {`Show more of ${number(total)}`}
          <span class="unseen">{` for ${inverse ? "inverse of " : ""}${relation}`}</span>
        </button>
      ) : null}
    </section>
  );
}

function End({
  kg,
  snapshot,
  triple,
  inverse,
}: {
  kg: string;
  snapshot: string;
  triple: Triple;
  inverse: boolean;
}) {
  const { name, id, literal } = otherEnd(triple, inverse);
  const { start, end } = triple.validity ?? {};
  return (
    <>
      {literal ? (
        <Name most={240}>{name}</Name>
      ) : (
        <EntityLink kg={kg} snapshot={snapshot} entity={name} id={id} />
      )}
      {start || end ? (
        <span class="triple-validity">{` ${start || "?"}–${end || "now"}`}</span>
      ) : null}
      <Provenance from={triple.provenance} links />
    </>
  );
}
