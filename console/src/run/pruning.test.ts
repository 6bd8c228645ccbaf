import { describe, expect, it } from "vitest";
import type { PgAkvGraphs } from "../api/messages";
import { asRequest, candidatesOf, fate, startingThreshold, stays } from "./pruning";

const graphs: PgAkvGraphs = {
  groundGraph: {
    subjects: [
      { subject: "Tyler", confidence: 0.9, hits: 4, triples: [{ triple: {} }, { triple: {} }] },
      { subject: "Donovan", confidence: 0.75, hits: 1, triples: [{ triple: {} }] },
    ],
  },
  dropped: [
    { subject: "Ferry", confidence: 0.8, hits: 1, reason: "DROP_REASON_CANDIDATE_SELECTION" },
    { subject: "Young", confidence: 0.5, hits: 2, reason: "DROP_REASON_CONFIDENCE" },
  ],
};

it("lists the subjects that pruning saw, surest first", () => {
  expect(candidatesOf(graphs).map(({ subject, triples }) => [subject, triples])).toEqual([
    ["Tyler", 2],
    ["Ferry", 0],
    ["Donovan", 1],
    ["Young", 0],
  ]);
});

describe("fate", () => {
  it.each([
    ["at the run's own threshold all is as it was", 0.7, ["kept", "outnumbered", "kept", "below"]],
    ["a higher one lets kept subjects fall", 0.8, ["kept", "outnumbered", "falls", "below"]],
    [
      "a lower one brings dropped subjects back, but not those with too few hits",
      0.4,
      ["kept", "outnumbered", "kept", "returns"],
    ],
    ["a subject at the threshold stays", 0.9, ["kept", "outnumbered", "falls", "below"]],
  ])("%s", (_, threshold, fates) => {
    expect(candidatesOf(graphs).map((candidate) => fate(candidate, threshold))).toEqual(fates);
  });

  it("keeps never more at a higher threshold", () => {
    const kept = (threshold: number) =>
      candidatesOf(graphs).filter((c) => stays(fate(c, threshold))).length;
    const counts = Array.from({ length: 101 }, (_, i) => kept(i / 100));
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
  });
});

it("begins where all that the run kept is kept", () => {
  const candidates = candidatesOf(graphs);
  const start = startingThreshold(candidates);
  expect(start).toBe(0.75);
  expect(candidates.filter((c) => fate(c, start) === "kept")).toHaveLength(2);
  expect(startingThreshold([])).toBe(0.5);
});

it("sends of a pseudo-graph what was drafted, and no more", () => {
  expect(
    asRequest({ triples: [{ subject: "a", relation: "r", object: "b", kgName: "x" }] }),
  ).toEqual({
    triples: [{ subject: "a", relation: "r", object: "b" }],
  });
  expect(asRequest(undefined)).toEqual({ triples: [] });
});
