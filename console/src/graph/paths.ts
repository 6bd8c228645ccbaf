import type { ReasoningPath } from "../api/messages";
import { toNumber } from "../format/quantity";
import { type Edge, type Graph, graphOf, identified, sameAs } from "./graph";

/** What is known of the entities that paths pass. */
export type PathEnds = {
  /** Where walks begin. */
  topics: string[];
  /** What was read off as a possible answer. */
  candidates: string[];
  /** What was given as an answer. */
  answers: string[];
};

/** The most paths of one picture. */
export const mostPaths = 120;

/**
 * The picture of reasoning paths, from topic entities on the left to their ends.
 * Triples on the way to an answer stand out; one that several paths share is
 * drawn once. Paths to answers come first, so that a cut takes others.
 */
export function pathGraph(paths: ReasoningPath[], ends: PathEnds): Graph {
  const answers = new Set(ends.answers);
  const leads = (path: ReasoningPath) => answers.has(path.entities?.at(-1) ?? "");
  const ordered = [...paths.filter(leads), ...paths.filter((path) => !leads(path))].slice(
    0,
    mostPaths,
  );
  const known = new Map<string, Omit<Edge, "id">>();
  for (const path of ordered) {
    for (const edge of edgesOfPath(path, leads(path))) {
      const same = sameAs(edge.triple);
      if (!known.has(same)) {
        known.set(same, edge);
      }
    }
  }
  const graph = graphOf(identified([...known.values()]));
  const [topics, candidates] = [new Set(ends.topics), new Set(ends.candidates)];
  for (const node of graph.nodes) {
    if (answers.has(node.id)) {
      node.role = "answer";
    } else if (candidates.has(node.id)) {
      node.role = "dropped";
    } else if (topics.has(node.id)) {
      node.role = "topic";
    }
  }
  return graph;
}

/** The triples that a path passes, in its order. */
export function edgesOfPath(path: ReasoningPath, leads: boolean): Omit<Edge, "id">[] {
  const { entities = [], entityIds = [], steps = [] } = path;
  return steps.flatMap((step, i) => {
    const [from, to] = [entities[i], entities[i + 1]];
    if (from === undefined || to === undefined) {
      return [];
    }
    const [subject, object] = step.inverse ? [to, from] : [from, to];
    const [subjectId, objectId] = step.inverse
      ? [entityIds[i + 1], entityIds[i]]
      : [entityIds[i], entityIds[i + 1]];
    return [
      {
        triple: {
          subject,
          relation: step.relation ?? "",
          object,
          ...(subjectId ? { subjectId } : {}),
          ...(objectId ? { objectId } : {}),
          ...(path.kgName ? { kgName: path.kgName } : {}),
        },
        mark: leads ? ("fixed" as const) : ("evidence" as const),
        score: toNumber(path.score),
        evidence: [],
        backwards: step.inverse ?? false,
      },
    ];
  });
}
