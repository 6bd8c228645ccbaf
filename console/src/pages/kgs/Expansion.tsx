import { useMemo } from "preact/hooks";
import type { Triple } from "../../api/messages";
import { useApi } from "../../app/services";
import { useCall } from "../../app/useCall";
import { GraphAndList } from "../../graph/GraphAndList";
import { type Edge, graphOf, hasLiteral } from "../../graph/graph";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { Name } from "../../ui/Name";
import { Spinner } from "../../ui/Spinner";
import { EntityLink } from "./EntityLink";
import { edgesAround } from "./facts";

/** How many triples an entity adds to the picture, and how many entities are expanded at once. */
const [each, most] = [20, 12];

/** A picture of what lies around some entities, each of whose ends adds what lies around it. */
export function Expansion({
  kg,
  snapshot,
  opened,
  onOpen,
}: {
  kg: string;
  snapshot: string;
  /** The entities that are expanded, the page's own first. */
  opened: string[];
  onOpen: (names: string[]) => void;
}) {
  const api = useApi();
  const names = [...new Set(opened)].slice(0, most);
  const { value, error, pending, again } = useCall(
    (signal) =>
      Promise.all(
        names.map(async (entity): Promise<Triple[]> => {
          const found = await api.neighbours(kg, { entity, limit: each }, { signal, snapshot });
          return found.triples ?? [];
        }),
      ),
    [kg, snapshot, JSON.stringify(names)],
  );
  const graph = useMemo(() => {
    const { nodes, edges } = graphOf(edgesAround(value ?? []));
    return {
      edges,
      nodes: nodes.map((node) => (names.includes(node.id) ? { ...node, role: "topic" } : node)),
    } as ReturnType<typeof graphOf>;
  }, [value]);
  const open = (name: string) => {
    if (!names.includes(name) && names.length < most) {
      onOpen([...names, name]);
    }
  };
  const openEnd = ({ triple }: Edge) => {
    const ends = [triple.subject ?? "", hasLiteral(triple) ? "" : (triple.object ?? "")];
    open(ends.find((end) => end && !names.includes(end)) ?? names[0] ?? "");
  };
  if (error !== undefined) {
    return <ErrorBox error={error} doing="Looking around" retry={again} />;
  }
  if (!value) {
    return <Spinner label="Looking around" />;
  }
  return (
    <div class="expansion" aria-busy={pending}>
      <p class="hint" role="status">
        {names.length < most
          ? `Choose an entity or a triple to add what lies around it, ${each} triples at most.`
          : `No more than ${most} entities are expanded at once: close one to expand another.`}
      </p>
      <ul class="expanded" aria-label="Expanded entities">
        {names.map((name, at) => (
          <li key={name}>
            <EntityLink kg={kg} snapshot={snapshot} entity={name} />
            {at > 0 ? (
              <button
                type="button"
                class="icon-button"
                onClick={() => onOpen(names.filter((other) => other !== name))}
              >
                <Icon name="close" size={14} />
                <span class="unseen">
                  Close <Name>{name}</Name>
                </span>
              </button>
            ) : null}
          </li>
        ))}
      </ul>
      <GraphAndList
        graph={graph}
        label={`Triples around ${names.join(", ")}`}
        onChoose={openEnd}
        onNode={(name) => {
          if (!graph.nodes.find(({ id }) => id === name)?.literal) {
            open(name);
          }
        }}
      />
    </div>
  );
}
