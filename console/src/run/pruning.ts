import type { DroppedSubject, PgAkvGraphs, PseudoGraph } from "../api/messages";
import { toNumber } from "../format/quantity";

/** A subject as pruning sees it. */
export type Candidate = {
  subject: string;
  /** Its id; "" where none is known. */
  id: string;
  kg: string;
  confidence: number;
  hits: number;
  /** How many triples it brought into the ground graph; 0 where it was dropped. */
  triples: number;
  /** Why it was dropped; undefined where it was kept. */
  reason?: DroppedSubject["reason"];
};

/** What a threshold would do with a subject. */
export type Fate = "kept" | "returns" | "falls" | "below" | "outnumbered";

/** The subjects that the run's pruning saw, surest first. */
export function candidatesOf(graphs: PgAkvGraphs): Candidate[] {
  const kept = (graphs.groundGraph?.subjects ?? []).map((subject) => ({
    subject: subject.subject ?? "",
    id: subject.subjectId ?? "",
    kg: subject.kgName ?? "",
    confidence: toNumber(subject.confidence),
    hits: subject.hits ?? 0,
    triples: subject.triples?.length ?? 0,
  }));
  const dropped = (graphs.dropped ?? []).map((subject) => ({
    subject: subject.subject ?? "",
    id: subject.subjectId ?? "",
    kg: subject.kgName ?? "",
    confidence: toNumber(subject.confidence),
    hits: subject.hits ?? 0,
    triples: 0,
    reason: subject.reason ?? "DROP_REASON_UNSPECIFIED",
  }));
  return [...kept, ...dropped].sort((a, b) => b.confidence - a.confidence);
}

/**
 * What a least confidence would do with a subject, as far as the run alone
 * tells. A subject dropped for its few hits stays out whatever the threshold:
 * only the retriever can tell how the first pruning would end otherwise.
 */
export function fate(candidate: Candidate, threshold: number): Fate {
  if (candidate.reason === "DROP_REASON_CANDIDATE_SELECTION") {
    return "outnumbered";
  }
  const passes = candidate.confidence >= threshold;
  if (candidate.reason === undefined) {
    return passes ? "kept" : "falls";
  }
  return passes ? "returns" : "below";
}

/** Whether a subject with this fate is in the ground graph. */
export const stays = (what: Fate): boolean => what === "kept" || what === "returns";

/** The least confidence at which the run's own subjects are all kept: where the slider begins. */
export function startingThreshold(candidates: Candidate[]): number {
  const kept = candidates.filter((candidate) => candidate.reason === undefined);
  const least = kept.length ? Math.min(...kept.map((candidate) => candidate.confidence)) : 0.5;
  // Down to a step of the slider, so that the subject itself passes.
  return Math.min(1, Math.max(0, Math.floor(least * 100) / 100));
}

/** A pseudo-graph as a request may carry it: without what only responses say. */
export function asRequest(graph: PseudoGraph | undefined): PseudoGraph {
  return {
    triples: (graph?.triples ?? []).map(({ subject, relation, object }) => ({
      subject,
      relation,
      object,
    })),
  };
}
