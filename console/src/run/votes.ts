import type { ScGraphs } from "../api/messages";

/** One answer and how many samples gave it. */
export type Vote = { answer: string; votes: number };

/** The answers of samples by their votes, most first; a sample votes for an answer once. */
export function votesOf(graphs: ScGraphs): Vote[] {
  const votes = new Map<string, number>();
  for (const sample of graphs.samples ?? []) {
    for (const answer of new Set(sample.answers)) {
      votes.set(answer, (votes.get(answer) ?? 0) + 1);
    }
  }
  return [...votes].map(([answer, n]) => ({ answer, votes: n })).sort((a, b) => b.votes - a.votes);
}
