import type { Run, Triple } from "../../api/messages";
import { milliseconds, toNumber } from "../../format/quantity";
import { sameAs } from "../../graph/graph";
import { answersOf } from "../../run/answer";

/** What two runs have in common, and what only one of them has. */
export type Shared<T> = { both: T[]; left: T[]; right: T[] };

/** How two runs of one question differ. */
export type Comparison = {
  answers: Shared<string>;
  evidence: Shared<Triple>;
  /** Figures of which less is better. */
  figures: Figure[];
};

/** One figure of both runs. */
export type Figure = { name: "time" | "calls" | "tokens" | "cost"; left: number; right: number };

/** Compares two runs of one question. */
export function compare(left: Run, right: Run): Comparison {
  return {
    answers: shared(answersOf(left), answersOf(right), fold),
    evidence: shared(evidenceOf(left), evidenceOf(right), sameAs),
    figures: [
      { name: "time", left: milliseconds(left.duration), right: milliseconds(right.duration) },
      { name: "calls", left: calls(left), right: calls(right) },
      { name: "tokens", left: tokens(left), right: tokens(right) },
      { name: "cost", left: toNumber(left.usage?.costUsd), right: toNumber(right.usage?.costUsd) },
    ],
  };
}

/** Splits two lists by what is in both, told by a key; each item once, in its own order. */
export function shared<T>(left: T[], right: T[], key: (item: T) => string): Shared<T> {
  const [mine, theirs] = [byKey(left, key), byKey(right, key)];
  return {
    both: [...mine].filter(([k]) => theirs.has(k)).map(([, item]) => item),
    left: [...mine].filter(([k]) => !theirs.has(k)).map(([, item]) => item),
    right: [...theirs].filter(([k]) => !mine.has(k)).map(([, item]) => item),
  };
}

/** The triples that a run's answers rest on, each once. */
export function evidenceOf(run: Run): Triple[] {
  return [
    ...byKey(
      (run.answers ?? []).flatMap((answer) => answer.evidence ?? []),
      sameAs,
    ).values(),
  ];
}

function byKey<T>(items: T[], key: (item: T) => string): Map<string, T> {
  const known = new Map<string, T>();
  for (const item of items) {
    if (!known.has(key(item))) {
      known.set(key(item), item);
    }
  }
  return known;
}

// The same answer in other capitals, or with other spaces, is the same.
const fold = (answer: string): string =>
  answer.normalize("NFKC").toLowerCase().replace(/\s+/gu, " ").trim();

// What a cached call saved now it would cost the next time.
const calls = ({ usage }: Run): number => toNumber(usage?.calls) + toNumber(usage?.cachedCalls);

const tokens = ({ usage }: Run): number =>
  toNumber(usage?.promptTokens) +
  toNumber(usage?.completionTokens) +
  toNumber(usage?.cachedPromptTokens) +
  toNumber(usage?.cachedCompletionTokens);
