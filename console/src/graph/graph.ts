import type { ScoredTriple, Triple } from "../api/messages";

/**
 * What a triple is in a picture. The first five are what verification did; the
 * others are triples nobody has touched: a draft (the model's word), evidence
 * (the knowledge graph's), and a fixed one.
 */
export type Mark =
  | "keep"
  | "replaced"
  | "replacing"
  | "add"
  | "delete"
  | "draft"
  | "evidence"
  | "fixed";

/** One triple of a picture. */
export type Edge = {
  /** What tells it from the others of a picture; the same triple has the same in another picture. */
  id: string;
  triple: Triple;
  mark: Mark;
  /** Its best cosine to what was asked; undefined where it has none. */
  score?: number | undefined;
  /** The triples of the knowledge graph it rests on. */
  evidence: ScoredTriple[];
  /** The triple that stands in its place, or in whose place it stands. */
  instead?: Triple | undefined;
  /** Whether a walk goes over it from object to subject: it is drawn the way of the walk. */
  backwards?: boolean;
};

/** One end of triples in a picture. */
export type Node = {
  /** Its name, which is also what tells it from others. */
  id: string;
  /** Whether it is a value and no entity: nothing lies around it. */
  literal: boolean;
  /** What its look says beside that. */
  role?: "topic" | "candidate" | "answer" | "dropped";
};

/** A picture of triples. */
export type Graph = { nodes: Node[]; edges: Edge[] };

/** The triple's parts, and the time it holds, as one text: two with the same say the same. */
export function sameAs(triple: Triple): string {
  const { start = "", end = "" } = triple.validity ?? {};
  return JSON.stringify([triple.subject, triple.relation, triple.object, start, end]);
}

/** The ends of an edge in the direction in which it is drawn. */
export function endsOf(edge: Edge): [from: string, to: string] {
  const { subject = "", object = "" } = edge.triple;
  return edge.backwards ? [object, subject] : [subject, object];
}

/** Whether a triple's object is a value rather than an entity. */
export function hasLiteral(triple: Triple): boolean {
  const kind = triple.objectKind ?? "TERM_KIND_UNSPECIFIED";
  return kind !== "TERM_KIND_UNSPECIFIED" && kind !== "TERM_KIND_MEDIATOR";
}

/** The picture that edges make: their ends, each once, in the order they come. */
export function graphOf(edges: Edge[]): Graph {
  const nodes = new Map<string, Node>();
  const add = (name: string, literal: boolean) => {
    const known = nodes.get(name);
    if (!known) {
      nodes.set(name, { id: name, literal });
    } else if (!literal) {
      known.literal = false;
    }
  };
  for (const { triple } of edges) {
    add(triple.subject ?? "", false);
    add(triple.object ?? "", hasLiteral(triple));
  }
  return { nodes: [...nodes.values()], edges };
}

/** Edges for triples that nobody has touched. */
export function edgesOf(triples: Triple[], mark: Mark): Edge[] {
  return identified(triples.map((triple) => ({ triple, mark, evidence: [] })));
}

/** Edges with ids: what their triples say, and a number where one says it again. */
export function identified(edges: Omit<Edge, "id">[]): Edge[] {
  const times = new Map<string, number>();
  return edges.map((edge) => {
    const same = sameAs(edge.triple);
    const n = times.get(same) ?? 0;
    times.set(same, n + 1);
    return { ...edge, id: n ? `${same} ${n}` : same };
  });
}
