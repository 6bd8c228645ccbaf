import { useEffect, useMemo, useState } from "preact/hooks";
import type { KnowledgeGraphRef, NeighboursResponse } from "../api/messages";
import { useApi } from "../app/services";
import { toNumber } from "../format/quantity";
import { count, number } from "../format/text";
import { GraphAndList } from "../graph/GraphAndList";
import { edgesOf, graphOf, hasLiteral } from "../graph/graph";
import { EntityId } from "../ui/EntityId";
import { ErrorBox } from "../ui/ErrorBox";
import { Name } from "../ui/Name";
import { Spinner } from "../ui/Spinner";

/** How many triples around an entity are fetched. */
const most = 60;

/** The triples around an entity: a picture and a list from which to walk on. */
export function Neighbours({
  kg,
  entity,
  limit = most,
  onWalk,
}: {
  kg: KnowledgeGraphRef;
  entity: string;
  limit?: number;
  onWalk: (entity: string) => void;
}) {
  const api = useApi();
  const [found, setFound] = useState<NeighboursResponse>();
  const [error, setError] = useState<unknown>();
  const { name = "", snapshot = "" } = kg;
  useEffect(() => {
    const leaving = new AbortController();
    setFound(undefined);
    setError(undefined);
    api
      .neighbours(name, { entity, limit }, { signal: leaving.signal, snapshot })
      .then(setFound, (reason: unknown) => {
        if (!leaving.signal.aborted) {
          setError(reason);
        }
      });
    return () => leaving.abort();
  }, [api, name, snapshot, entity, limit]);
  const graph = useMemo(() => graphOf(edgesOf(found?.triples ?? [], "evidence")), [found]);

  if (error !== undefined) {
    return <ErrorBox error={error} doing={`Looking around ${entity}`} />;
  }
  if (!found) {
    return <Spinner label={`Looking around ${entity}`} />;
  }
  const total = toNumber(found.total);
  if (total === 0 && graph.edges.length === 0) {
    return (
      <p class="muted">
        {name} holds nothing about <Name>{entity}</Name>.
      </p>
    );
  }
  return (
    <div class="neighbours">
      <p class="hint">
        {graph.edges.length < total
          ? `${number(graph.edges.length)} of ${count(total, "triple")} around it.`
          : `${count(total, "triple")} around it.`}{" "}
        <EntityId entity={found.entity} />
      </p>
      <GraphAndList
        graph={graph}
        label={`Triples around ${entity}`}
        onChoose={(edge) => {
          const { subject = "", object = "" } = edge.triple;
          const other = subject === entity ? object : subject;
          if (other !== entity && !(other === object && hasLiteral(edge.triple))) {
            onWalk(other);
          }
        }}
        onNode={(node) => {
          const literal = graph.nodes.find(({ id }) => id === node)?.literal;
          if (node !== entity && !literal) {
            onWalk(node);
          }
        }}
      />
    </div>
  );
}
