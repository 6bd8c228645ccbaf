import type { Decision, GerGraphs, ReasoningPath } from "../api/messages";
import { toNumber } from "../format/quantity";

/** What became of one candidate answer. */
export type CandidateRow = {
  answer: string;
  /** The entity's id; undefined where none is known. */
  id?: string;
  /** What it was judged, alone; undefined where nobody judged it. */
  verdict?: "right" | "wrong" | "unknown";
  /** How probable it is that it is right; undefined where the model server told none. */
  probability?: number;
  /** What reflection did with it; undefined where there was none. */
  decision?: Decision;
  paths: ReasoningPath[];
};

/** Every candidate with its verdict and what reflection made of it; then what reflection added. */
export function candidateRows(graphs: GerGraphs): CandidateRow[] {
  const verdicts = new Map(
    (graphs.answerVerdicts ?? []).map((verdict) => [verdict.answer, verdict]),
  );
  const reflections = new Map(
    (graphs.reflections ?? []).map((reflection) => [reflection.answer, reflection]),
  );
  const rows = (graphs.candidates ?? []).map((candidate): CandidateRow => {
    const verdict = verdicts.get(candidate.answer);
    const decision = reflections.get(candidate.answer)?.decision;
    return {
      answer: candidate.answer ?? "",
      ...(candidate.answerId ? { id: candidate.answerId } : {}),
      paths: candidate.paths ?? [],
      ...(verdict
        ? { verdict: verdict.unknown ? "unknown" : verdict.correct ? "right" : "wrong" }
        : {}),
      ...(verdict?.probability !== undefined ? { probability: toNumber(verdict.probability) } : {}),
      ...(decision ? { decision } : {}),
    };
  });
  const known = new Set(rows.map((row) => row.answer));
  for (const { answer = "", decision, paths = [] } of graphs.reflections ?? []) {
    if (!known.has(answer)) {
      const id = paths.find((path) => path.entities?.at(-1) === answer)?.entityIds?.at(-1);
      rows.push({ answer, paths, ...(id ? { id } : {}), ...(decision ? { decision } : {}) });
    }
  }
  return rows;
}
