import { useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { toNumber } from "../../format/quantity";
import { count } from "../../format/text";
import { EntityId } from "../../ui/EntityId";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { Tabs } from "../../ui/Tabs";
import { EntityLink } from "./EntityLink";
import { Expansion } from "./Expansion";
import { Facts } from "./Facts";
import { bareName, namesIn } from "./facts";

/** How many triples are fetched at once; the store spreads them over the relations. */
const sample = 500;

/** An entity: who it is, its facts by relation, and a picture of them to walk through. */
export function EntityPage({
  kg,
  snapshot,
  entity,
  query,
}: {
  kg: string;
  snapshot: string;
  /** A name or an id. */
  entity: string;
  query: URLSearchParams;
}) {
  const { api, router } = useServices();
  const { value, error, pending, again } = useCall(
    (signal) => api.neighbours(kg, { entity, limit: sample }, { signal, snapshot }),
    [kg, snapshot, entity],
  );
  const name = value?.entity?.name || entity;
  const show = (change: Record<string, string>) =>
    router.replace(["kgs", kg], { ...Object.fromEntries(query), ...change });
  return (
    <article class="entity" aria-busy={pending}>
      <header>
        <h2 dir="auto">{name}</h2>
        <EntityId entity={value?.entity} />
        {value ? <Namesakes kg={kg} snapshot={snapshot} name={name} id={value.entity?.id} /> : null}
      </header>
      {error !== undefined ? (
        <ErrorBox error={error} doing={`Looking around ${entity}`} retry={again} />
      ) : value ? (
        toNumber(value.total) === 0 ? (
          <p class="muted">{`${kg} holds no triples about it.`}</p>
        ) : (
          <Tabs
            label={`Views of ${name}`}
            chosen={query.get("view") ?? "facts"}
            onChoose={(view) => show({ view: view === "facts" ? "" : view })}
            tabs={[
              {
                name: "facts",
                label: `Facts (${count(toNumber(value.total), "triple")})`,
                body: () => <Facts kg={kg} snapshot={snapshot} found={value} />,
              },
              {
                name: "picture",
                label: "Picture",
                body: () => (
                  <Expansion
                    kg={kg}
                    snapshot={snapshot}
                    opened={[name, ...namesIn(query.get("open"))]}
                    onOpen={(names) =>
                      show({ open: names.length > 1 ? JSON.stringify(names.slice(1)) : "" })
                    }
                  />
                ),
              },
            ]}
          />
        )
      ) : (
        <Spinner label="Looking around" />
      )}
    </article>
  );
}

/** Other entities that are written the same. */
function Namesakes({
  kg,
  snapshot,
  name,
  id,
}: {
  kg: string;
  snapshot: string;
  name: string;
  id: string | undefined;
}) {
  const { api } = useServices();
  const bare = bareName(name, id);
  const { value } = useCall(
    (signal) => api.link(kg, { text: bare, limit: 50 }, { signal }),
    [kg, bare],
  );
  const others = (value?.links ?? []).filter(
    (link) => link.entity !== name && bareName(link.entity ?? "", link.entityId) === bare,
  );
  return others.length ? (
    <p class="namesakes">
      {"Not to be confused with "}
      {others.map((link, i) => (
        <>
          {i ? ", " : ""}
          <EntityLink kg={kg} snapshot={snapshot} entity={link.entity ?? ""} id={link.entityId} />
        </>
      ))}
      .
    </p>
  ) : null;
}
