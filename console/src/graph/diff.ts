import type { Edit, PgAkvGraphs, ScoredTriple } from "../api/messages";
import { toNumber } from "../format/quantity";
import { type Edge, edgesOf, identified, sameAs } from "./graph";

/** What one verification did, counted. */
export type EditCounts = { keep: number; replace: number; add: number; delete: number };

/** The three graphs of PG&AKV and what leads from one to the next. */
export type ThreeGraphs = {
  /** G_p. */
  draft: Edge[];
  /** G_g, every subject's triples. */
  ground: Edge[];
  /** From G_p to G_f: a replaced draft and what replaced it are both in it. */
  changes: Edge[];
  /** G_f, as the verifier ordered it. */
  fixed: Edge[];
  counts: EditCounts;
};

/** Reads the three graphs off a run's. What a run has not come to is empty. */
export function threeGraphs(graphs: PgAkvGraphs): ThreeGraphs {
  const changes = identified((graphs.edits ?? []).flatMap(edgesOfEdit));
  return {
    draft: edgesOf(graphs.pseudoGraph?.triples ?? [], "draft"),
    ground: groundEdges(graphs),
    changes,
    fixed: fixedEdges(graphs, changes),
    counts: countEdits(graphs.edits ?? []),
  };
}

/** The edges of one edit: two for a replacement, one for all others. */
export function edgesOfEdit(edit: Edit): Omit<Edge, "id">[] {
  const evidence = edit.evidence ?? [];
  const about = { score: bestScore(evidence), evidence };
  const { before, after } = edit;
  switch (edit.kind) {
    case "EDIT_KIND_KEEP": {
      const triple = after ?? before;
      return triple ? [{ ...about, triple, mark: "keep" }] : [];
    }
    case "EDIT_KIND_ADD":
      return after ? [{ ...about, triple: after, mark: "add" }] : [];
    case "EDIT_KIND_DELETE":
      return before ? [{ ...about, triple: before, mark: "delete" }] : [];
    case "EDIT_KIND_REPLACE":
      return [
        ...(before
          ? [{ ...about, triple: before, mark: "replaced" as const, instead: after }]
          : []),
        ...(after
          ? [{ ...about, triple: after, mark: "replacing" as const, instead: before }]
          : []),
      ];
    default:
      return [];
  }
}

/** How many edits of each kind there are. */
export function countEdits(edits: Edit[]): EditCounts {
  const of = (kind: Edit["kind"]) => edits.filter((edit) => edit.kind === kind).length;
  return {
    keep: of("EDIT_KIND_KEEP"),
    replace: of("EDIT_KIND_REPLACE"),
    add: of("EDIT_KIND_ADD"),
    delete: of("EDIT_KIND_DELETE"),
  };
}

function groundEdges(graphs: PgAkvGraphs): Edge[] {
  const scored = (graphs.groundGraph?.subjects ?? []).flatMap((subject) => subject.triples ?? []);
  return identified(
    scored.flatMap(({ triple, score }) =>
      triple ? [{ triple, mark: "evidence" as const, score: toNumber(score), evidence: [] }] : [],
    ),
  );
}

// The fixed graph's triples, each with what is known of how it came there.
function fixedEdges(graphs: PgAkvGraphs, changes: Edge[]): Edge[] {
  const known = new Map(changes.map((edge) => [sameAs(edge.triple), edge]));
  return identified(
    (graphs.fixedGraph?.triples ?? []).flatMap(({ triple, status }) => {
      if (!triple) {
        return [];
      }
      const { score, evidence = [] } = known.get(sameAs(triple)) ?? {};
      const mark = status === "TRIPLE_STATUS_UNVERIFIED" ? ("draft" as const) : ("fixed" as const);
      return [{ triple, mark, score, evidence }];
    }),
  );
}

function bestScore(evidence: ScoredTriple[]): number | undefined {
  return evidence.length ? Math.max(...evidence.map(({ score }) => toNumber(score))) : undefined;
}
