import type { Run } from "../api/messages";

/** A piece of an answer's text: plain, or the name of an answer. */
export type Piece = { text: string; answer: boolean };

/** Splits an answer's text where it has the names of answers, the longest one first. */
export function pieces(text: string, answers: string[]): Piece[] {
  const names = answers
    .filter((name) => name !== "")
    .sort((a, b) => b.length - a.length)
    .map((name) => name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (names.length === 0) {
    return text === "" ? [] : [{ text, answer: false }];
  }
  // With a group in the pattern, every second part is a name.
  return text
    .split(new RegExp(`(?<![\\p{L}\\p{N}])(${names.join("|")})(?![\\p{L}\\p{N}])`, "u"))
    .map((part, i) => ({ text: part, answer: i % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}

/** The names of a run's answers, best first. */
export const answersOf = (run: Run): string[] =>
  (run.answers ?? []).map(({ answer }) => answer ?? "");
