import type { ComponentChildren } from "preact";
import type { LinkEntitiesResponse, SearchRelationsResponse } from "../../api/messages";
import { useApi } from "../../app/services";
import { type Called, useCall } from "../../app/useCall";
import { score, toNumber } from "../../format/quantity";
import { count, words as inWords } from "../../format/text";
import { ErrorBox } from "../../ui/ErrorBox";
import { Name } from "../../ui/Name";
import { Spinner } from "../../ui/Spinner";
import { EntityLink } from "./EntityLink";
import { TripleRow } from "./TripleRow";
import "../../ui/triple.css";

/** How many of each kind are shown. */
const most = 12;

/** What a knowledge graph has for some words. */
export function Found({ kg, snapshot, words }: { kg: string; snapshot: string; words: string }) {
  const api = useApi();
  const asked = [kg, snapshot, words];
  const entities = useCall(
    (signal) => api.link(kg, { text: words, limit: most }, { signal }),
    asked,
  );
  const triples = useCall(
    (signal) => api.search(kg, { queries: [words], limit: most }, { signal, snapshot }),
    asked,
  );
  const relations = useCall(
    (signal) => api.relations(kg, { queries: [words], limit: most }, { signal }),
    asked,
  );
  return (
    <div class="found">
      <Part title="Entities" called={entities} count={(found) => found.links?.length ?? 0}>
        {(found) => <Entities kg={kg} snapshot={snapshot} found={found} />}
      </Part>
      <Part
        title="Triples"
        called={triples}
        count={(found) => found.results?.[0]?.triples?.length ?? 0}
      >
        {(found) => (
          <table>
            <caption class="unseen">Triples nearest to {words}</caption>
            <tbody>
              {(found.results?.[0]?.triples ?? []).map(({ triple, score: closeness }, place) =>
                triple ? (
                  <TripleRow key={place} kg={kg} snapshot={snapshot} triple={triple}>
                    <td class="figures" title="cosine">
                      {score(closeness)}
                    </td>
                  </TripleRow>
                ) : null,
              )}
            </tbody>
          </table>
        )}
      </Part>
      <Part
        title="Relations"
        called={relations}
        count={(found) => found.results?.[0]?.relations?.length ?? 0}
      >
        {(found) => <Relations found={found} />}
      </Part>
    </div>
  );
}

function Part<T>({
  title,
  called,
  count: countOf,
  children,
}: {
  title: string;
  called: Called<T>;
  count: (found: T) => number;
  children: (found: T) => ComponentChildren;
}) {
  const { value, error, pending, again } = called;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {error !== undefined ? (
        <ErrorBox error={error} doing={`Searching the ${title.toLowerCase()}`} retry={again} />
      ) : pending || value === undefined ? (
        <Spinner label="Searching" />
      ) : countOf(value) === 0 ? (
        <p class="muted">Nothing fits.</p>
      ) : (
        children(value)
      )}
    </section>
  );
}

function Entities({
  kg,
  snapshot,
  found,
}: {
  kg: string;
  snapshot: string;
  found: LinkEntitiesResponse;
}) {
  return (
    <ul class="found-list">
      {(found.links ?? []).map((link) => (
        <li key={link.entity}>
          <EntityLink kg={kg} snapshot={snapshot} entity={link.entity ?? ""} id={link.entityId} />
          <span class="muted figures">{`${inWords(link.match, "LINK_MATCH_")} ${score(link.score)}`}</span>
        </li>
      ))}
    </ul>
  );
}

function Relations({ found }: { found: SearchRelationsResponse }) {
  return (
    <ul class="found-list">
      {(found.results?.[0]?.relations ?? []).map((relation) => (
        <li key={relation.relation}>
          <span class="triple-relation">
            <Name>{relation.relation ?? ""}</Name>
          </span>
          <span class="muted figures">
            {`${count(toNumber(relation.triples), "triple")}, ${score(relation.score)}`}
          </span>
        </li>
      ))}
    </ul>
  );
}
